import { getOrMake } from '@orch/core/memo'
import { splitFlag, suggestion } from '@orch/platform'

/** An invalid command line, or a request that cannot be met; the message is for the user. */
export class CtlError extends Error {}

interface Flag {
  readonly short?: string
  /** The kind of value; '' for booleans, `a|b` for a choice, `int` and `seconds` for whole numbers. */
  readonly word: string
  /** Its value without an argument: another value follows only after `=`. */
  readonly whenAlone?: string
  readonly isList?: boolean
  readonly doc: string
}

/** Flags of every command. */
export const globalFlags = {
  kubeconfig: { word: 'path', doc: 'Client configuration file; by default those of KUBECONFIG, or ~/.kube/config.' },
  context: { word: 'name', doc: 'Context of the client configuration.' },
  namespace: { short: 'n', word: 'name', doc: 'Namespace; by default that of the context.' },
  server: { short: 's', word: 'url', doc: 'URL of the server; by default that of the configuration.' },
  token: { word: 'text', doc: 'Bearer token; by default the credentials of the configuration.' },
  as: { word: 'user', doc: 'User to impersonate.' },
  'as-group': { word: 'group', isList: true, doc: 'Group to impersonate; may be repeated.' },
  'as-uid': { word: 'uid', doc: 'UID to impersonate.' },
  'insecure-skip-tls-verify': { word: '', doc: 'Do not verify the certificate of the server.' },
  'certificate-authority': { word: 'path', doc: 'Certificate authorities of the server.' },
  help: { short: 'h', word: '', doc: 'Print the flags of the command.' },
} as const satisfies Flags

/** Flags by name. */
export type Flags = Readonly<Record<string, Flag>>

/** The values of flags: true or false, a text, or texts. */
export type FlagValues<F extends Flags> = {
  readonly [N in keyof F]: F[N] extends { readonly isList: true }
    ? readonly string[]
    : F[N]['word'] extends ''
      ? boolean
      : string | undefined
}

/** A parsed command line. */
export interface Words<F extends Flags> {
  readonly flags: FlagValues<F>
  /** The words other than flags, in order. */
  readonly rest: readonly string[]
}

/** Parses flags like pflag: `--name=value`, `--name value`, `-n value`, `-nvalue`, and `--name` for booleans. */
export function readWords<F extends Flags>(flags: F, words: readonly string[]): Words<F> {
  const byName = new Map<string, [string, Flag]>()
  for (const [name, flag] of Object.entries(flags)) {
    byName.set(`--${name}`, [name, flag])
    if (flag.short !== undefined) byName.set(`-${flag.short}`, [name, flag])
  }
  const lists = new Map<string, string[]>()
  const values: Record<string, boolean | string | readonly string[] | undefined> = {}
  for (const [name, { word, isList }] of Object.entries(flags)) values[name] = isList === true ? [] : word === '' ? false : undefined
  const rest: string[] = []
  const queue = [...words]
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (word === '--') {
      rest.push(...queue.splice(0))
    } else if (!word.startsWith('-') || word === '-') {
      rest.push(word)
    } else {
      const { called, given } = split(word)
      const found = byName.get(called)
      if (found === undefined) throw new CtlError(`unknown flag: ${called}${suggestion(called, [...byName.keys()])}`)
      const [name, flag] = found
      const text = given ?? flag.whenAlone ?? (flag.word === '' ? 'true' : queue.shift())
      if (text === undefined) throw new CtlError(`flag needs an argument: ${called}`)
      checkValue(called, flag, text)
      if (flag.isList === true) {
        const list = getOrMake(lists, name, () => [])
        list.push(...text.split(','))
        values[name] = list
      } else values[name] = flag.word === '' ? readTruth(called, text) : text
    }
  }
  // Each name has the type that its flag declares.
  return { flags: values as FlagValues<F>, rest }
}

/** Moves the command word before its preceding flags: `-n a get b` becomes `get -n a b`. */
export function wordFirst(flags: Flags, words: readonly string[]): readonly string[] {
  let index = 0
  while (index < words.length) {
    const word = words[index] ?? ''
    if (!word.startsWith('-')) break
    const { called, given } = split(word)
    const found = Object.entries(flags).find(([name, { short }]) => called === `--${name}` || called === `-${short}`)
    if (found === undefined) break
    index += given === undefined && found[1].word !== '' && found[1].whenAlone === undefined ? 2 : 1
  }
  return [...words.slice(index, index + 1), ...words.slice(0, index), ...words.slice(index + 1)]
}

function split(word: string): { readonly called: string; readonly given: string | undefined } {
  if (word.startsWith('--')) {
    const { flag, text } = splitFlag(word)
    return { called: flag, given: text }
  }
  const given = word.slice(2).replace(/^=/, '')
  return { called: word.slice(0, 2), given: given === '' ? undefined : given }
}

function checkValue(called: string, { word }: Flag, text: string): void {
  const values = word.split('|')
  if (values.length > 1 && !values.includes(text))
    throw new CtlError(`${called}=${text}: must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`)
  if ((word === 'int' || word === 'seconds') && !/^-?\d{1,15}$/.test(text)) throw new CtlError(`${called}=${text}: must be a whole number`)
}

function readTruth(called: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new CtlError(`${called}=${text}: must be true or false`)
}

/** Flags with their descriptions, for the help. */
export function printFlags(flags: Flags): string {
  return Object.entries(flags)
    .map(
      ([name, { short, word, doc }]) =>
        `  ${short === undefined ? '    ' : `-${short}, `}--${name}${word === '' ? '' : ` ${word}`}\n        ${doc}\n`,
    )
    .join('')
}
