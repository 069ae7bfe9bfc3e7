import type { Session } from './session.ts'
import type { StatusTerminal } from './terminal.ts'
import type { Flags, FlagValues, globalFlags } from './words.ts'

/** The context of a command. */
export interface CommandContext<F extends Flags> {
  readonly terminal: StatusTerminal
  readonly session: Session
  readonly flags: FlagValues<F & typeof globalFlags>
  readonly rest: readonly string[]
}

/** A command. Its exit code is 0 unless it says otherwise. */
export interface Command<F extends Flags = Flags> {
  readonly usage: string
  readonly doc: string
  readonly flags: F
  /** Its words are a resource and names of objects. */
  readonly takesObjects?: true
  run(context: CommandContext<F>): Promise<number | undefined>
}

/** A command that asks no server, and needs no client configuration. */
export interface LocalCommand<F extends Flags = Flags> {
  readonly usage: string
  readonly doc: string
  readonly flags: F
  runLocally(context: Omit<CommandContext<F>, 'session'>): Promise<number | undefined>
}

/** A local command whose flags have their types. */
export function localCommand<const F extends Flags>(declared: LocalCommand<F>): LocalCommand {
  return declared
}

/** A command whose flags have their types. */
export function command<const F extends Flags>(declared: Command<F>): Command {
  return declared
}
