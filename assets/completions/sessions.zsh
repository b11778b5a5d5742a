
# Completes ids of sessions, each with its title.
_tv_sessions() {
    local -a sessions
    sessions=("${(@f)$(tv list --limit 200 --json 2>/dev/null |
        sed -n -e 's/^.*"id":"\([^"]*\)".*"title":"\([^"\\]*\).*/\1:\2/p' -e t -e 's/^.*"id":"\([^"]*\)".*/\1/p')}")
    _describe -V session sessions
    _files
}
