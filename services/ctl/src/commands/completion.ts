import { type Command, type LocalCommand, localCommand } from '../command.ts'
import type { Session } from '../session.ts'
import { CtlError, type Flags, globalFlags } from '../words.ts'

const scripts: Readonly<Record<string, (program: string) => string>> = {
  bash: (program) => `# bash completion for ${program}
_${program}_complete() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(${program} __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _${program}_complete ${program}
`,
  zsh: (program) => `#compdef ${program}
_${program}() {
  local -a found
  found=("\${(@f)$(${program} __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a found
}
compdef _${program} ${program}
`,
  fish: (program) => `# fish completion for ${program}
complete -c ${program} -f -a '(${program} __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
}

/** `orchctl completion`. */
export const completion: LocalCommand = localCommand({
  usage: 'completion bash|zsh|fish',
  doc: 'print a script for a shell that completes commands, flags, resources and names: source <(orchctl completion bash)',
  flags: {},
  runLocally: async ({ terminal, rest: [shell = ''] }) => {
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
    if (script === undefined) throw new CtlError(`completion ${shell}: must be bash, zsh or fish`)
    terminal.out(script('orchctl'))
  },
})

/** The completions of the last word of a command line, one per line. */
export async function completions(
  commands: Readonly<Record<string, Command | LocalCommand>>,
  words: readonly string[],
  session: () => Promise<Session>,
): Promise<string[]> {
  const begun = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const [name, ...rest] = before
  const starting = (candidates: readonly string[]) => candidates.filter((word) => word.startsWith(begun)).sort()
  if (name === undefined) return starting(Object.keys(commands))
  const chosen = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (chosen === undefined) return []
  const flags: Flags = { ...globalFlags, ...chosen.flags }
  if (begun.startsWith('-')) return starting(Object.keys(flags).map((flag) => `--${flag}`))
  const last = rest.at(-1) ?? ''
  if (last === '-n' || last === '--namespace') return starting(await namesOf(await session(), 'namespaces', undefined))
  if (valueFollows(flags, last)) return []
  if ('runLocally' in chosen || chosen.takesObjects !== true) return []
  const given = rest.filter((word, index) => !word.startsWith('-') && !valueFollows(flags, rest[index - 1] ?? ''))
  const { resources, ...opened } = await session()
  const [type] = given
  if (type === undefined) return starting((await resources.all()).filter(({ isPreferred }) => isPreferred).map(({ plural }) => plural))
  const place = rest.findIndex((word) => word === '-n' || word === '--namespace')
  return starting(await namesOf({ resources, ...opened }, type, place < 0 ? undefined : rest[place + 1]))
}

/** True if the next word is the value of a flag. */
function valueFollows(flags: Flags, word: string): boolean {
  if (!word.startsWith('-') || word.includes('=')) return false
  return Object.entries(flags).some(
    ([name, { short, word: value, whenAlone }]) =>
      value !== '' && whenAlone === undefined && (word === `--${name}` || word === `-${short}`),
  )
}

/** Maximum number of completed names. */
async function namesOf(session: Session, type: string, namespace: string | undefined): Promise<string[]> {
  const resource = await session.resources.find(type)
  const { items } = await session.client
    .resource(resource)
    .list({ namespace: resource.namespaced ? (namespace ?? session.namespace) : undefined, limit: completedNamesMax })
  return items.map(({ metadata }) => metadata.name ?? '')
}

const completedNamesMax = 200
