
# Completes ids of sessions where nothing else fits; of a part of a title, if no id begins so, the ids of those that
# have it.
_tv_sessions() {
    _tv "$@"
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"
    case "$cur" in -*) return ;; esac
    if [ ${#COMPREPLY[@]} -gt 0 ]; then
        [ -n "$cur" ] && return
        case "$prev" in --*) return ;; esac
    fi
    COMPREPLY+=($(tv list --limit 200 --json 2>/dev/null |
        sed -n -e 's/^.*"id":"\([^"]*\)".*"title":"\([^"\\]*\).*/\1 \2/p' -e t -e 's/^.*"id":"\([^"]*\)".*/\1/p' |
        awk -v word="$cur" 'word == "" || index($1, word) == 1 { print $1; found = 1 }
            length(word) > 2 && index(tolower($0), tolower(word)) { titled = titled $1 "\n" }
            END { if (!found) printf "%s", titled }'))
}
complete -F _tv_sessions -o bashdefault -o default tv
