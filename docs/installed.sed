# SPDX-License-Identifier: Apache-2.0
# Makes the manual that is installed of the one in the sources: what is installed lies beside it; of what is not, only its name is left.
s#\]\(\.\./examples/#](examples/#g
s#\]\(\.\./integrations/#](integrations/#g
s#\]\(\.\./feeds/example/#](examples/feed/#g
s%\[([^]]*)\]\(\.\./(CONTRIBUTING\.md|(bench|t)/[^)#]*)(#[^)]*)?\)%\1 (`\2` in the sources)%g
