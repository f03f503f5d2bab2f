/** The first word of a command line that asks what can follow; used by the scripts alone. */
export const completeRequest = "__complete";

export const completedShells = ["bash", "zsh", "fish"] as const;
export type CompletedShell = (typeof completedShells)[number];

const bash = `# bash completion of karpenter
_karpenter() {
  local current=\${COMP_WORDS[COMP_CWORD]} line
  [[ $current == "=" ]] && current=
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
      :folders) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" ${completeRequest} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _karpenter karpenter
`;

const zsh = `#compdef karpenter
# zsh completion of karpenter
_karpenter() {
  local line value
  local -a described
  for line in "\${(@f)$("\${words[1]}" ${completeRequest} "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      "") ;;
      :files) _files; return ;;
      :folders) _files -/; return ;;
      *$'\\t'*) value=\${line%%$'\\t'*}; described+=("\${value//:/\\\\:}:\${line#*$'\\t'}") ;;
      *) described+=("\${line//:/\\\\:}") ;;
    esac
  done
  _describe karpenter described
}
if [[ $funcstack[1] == _karpenter ]]; then _karpenter "$@"; else compdef _karpenter karpenter; fi
`;

const fish = `# fish completion of karpenter
function __karpenter_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] ${completeRequest} $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':folders'
                __fish_complete_directories "$current" ''
            case '*'
                echo $line
        end
    end
end
complete -c karpenter -f -a '(__karpenter_complete)'
`;

export const completionScripts: Readonly<Record<CompletedShell, string>> = { bash, zsh, fish };
