# SPDX-License-Identifier: Apache-2.0
# Completion of vaultctl for bash. What there is, the program itself says.

_vaultctl()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        # shellcheck disable=SC2207 # commands and options are words
        COMPREPLY=($(compgen -W "$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p') --help --version" -- "$cur"))
        return
    fi
    case $prev in
    -f | --file | --netrc-file | --cacert)
        compopt -o filenames
        # shellcheck disable=SC2207
        COMPREPLY=($(compgen -f -- "$cur"))
        return
        ;;
    --url | -u | --user | -H | --header | -m | --max-time | -d | --delay | -n | --count | --name | --owner | --interest | --match | --sort | --limit)
        return
        ;;
    esac
    case $cur in
    -*)
        # shellcheck disable=SC2207
        COMPREPLY=($(compgen -W "$("$program" "${COMP_WORDS[1]}" --help 2>/dev/null |
            sed -n 's/^  \(-[a-zA-Z]\),\{0,1\} \(--[a-z-]*\).*/\1 \2/p; s/^  *\(--[a-z-]*\).*/\1/p')" -- "$cur"))
        ;;
    esac
}
complete -F _vaultctl vaultctl
