# SPDX-License-Identifier: Apache-2.0
# Every link of the manual to a file leads to one: in the sources, and where the manual is installed. Every link to a heading leads to one.
. "${srcdir:-.}/t/guards/guard.sh"

# Each link of these pages that is no URL: "page: target", the target as a path from where the page lies.
links_of() {
    for page; do
        grep -oE '\]\([^)]+\)' "$page" | sed -E 's/^\]\((.*)\)$/\1/' | grep -vE '^[a-z]+:' | sed "s#^#${page##*/}: #"
    done
}

# The headings of a page as links name them.
headings_of() {
    sed -nE '/^```/,/^```/d; s/^#+ +//p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g' | sed "s%^%${1##*/}#%"
}

mkdir "$guard_dir/installed"
for page in docs/*.md; do
    sed -E -f docs/installed.sed "$page" >"$guard_dir/installed/${page##*/}"
done

links_of docs/*.md | sed -E 's/^[^:]*: //; s/#.*//' | grep . | list "links in the sources"
(cd docs && for link in $(cat "$(file_of "links in the sources")"); do [ -e "$link" ] && echo "$link"; done) | list "files in the sources"
all_in "links in the sources" "files in the sources" "the manual has a link to this, and there is no such file"

links_of "$guard_dir"/installed/*.md | sed -E 's/^[^:]*: //; s/#.*//' | grep . | list "links where it is installed"
{
    ls docs | grep '\.md$'
    makefiles | sed -n '/^nobase_dist_doc_DATA/,/[^\\]$/p; /^INTEGRATIONS/,/[^\\]$/p; /^nobase_dist_scriptexample_SCRIPTS/p; /^dist_feedexample_DATA/,/[^\\]$/p' |
        grep -oE '[A-Za-z0-9_./-]+/[A-Za-z0-9_.-]+' | sed -E 's#^feeds/example/#examples/feed/#' |
        sed 'p; s#[^/]*$##'
} | list "what is installed with it"
all_in "links where it is installed" "what is installed with it" "the installed manual has a link to this, which is not installed there"

links_of docs/*.md | grep '#' | grep -v ': \.\.' | sed -E 's/^([^:]*): #/\1#/; s/^[^:]*: //' | list "links to headings"
for page in docs/*.md; do headings_of "$page"; done | list "headings"
all_in "links to headings" "headings" "the manual has a link to this heading, and there is none"
guard_end
