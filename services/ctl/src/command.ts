import type { Session } from './session.ts'
import type { StatusTerminal } from './terminal.ts'
import type { Flags, FlagValues, globalFlags } from './words.ts'

export interface CommandContext<F extends Flags> {
  readonly terminal: StatusTerminal
  readonly session: Session
  readonly flags: FlagValues<F & typeof globalFlags>
  readonly rest: readonly string[]
}

/** A command. Returns its exit code, 0 by default. */
export interface Command<F extends Flags = Flags> {
  readonly usage: string
  readonly doc: string
  readonly flags: F
  /** True if its words are a resource and names of objects. */
  readonly takesObjects?: true
  run(context: CommandContext<F>): Promise<number | undefined>
}

/** A command without a server, which needs no client configuration. */
export interface LocalCommand<F extends Flags = Flags> {
  readonly usage: string
  readonly doc: string
  readonly flags: F
  runLocally(context: Omit<CommandContext<F>, 'session'>): Promise<number | undefined>
}

/** A local command with typed flags. */
export function localCommand<const F extends Flags>(declared: LocalCommand<F>): LocalCommand {
  return declared
}

/** A command with typed flags. */
export function command<const F extends Flags>(declared: Command<F>): Command {
  return declared
}
