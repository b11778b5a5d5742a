
# Completes ids of sessions; of a part of a title the ids of those that have it.
_tv_sessions() {
    _tv "$@"
    local cur="${COMP_WORDS[COMP_CWORD]}"
    case "$cur" in -*) return ;; esac
    COMPREPLY+=($(tv list --limit 200 --json 2>/dev/null |
        sed -n -e 's/^.*"id":"\([^"]*\)".*"title":"\([^"\\]*\).*/\1 \2/p' -e t -e 's/^.*"id":"\([^"]*\)".*/\1/p' |
        awk -v word="$cur" 'word == "" || index($1, word) == 1 ||
            length(word) > 2 && index(tolower($0), tolower(word)) { print $1 }'))
}
complete -F _tv_sessions -o bashdefault -o default tv
