import { ConfigurationError, UnsentError } from '@orch/client'
import { StatusError } from '@orch/core/meta'
import { suggestion } from '@orch/platform'
import type { Command, LocalCommand } from './command.ts'
import { blame } from './commands/blame.ts'
import { completion, completions } from './commands/completion.ts'
import { describe } from './commands/describe.ts'
import { diff } from './commands/diff.ts'
import { edit } from './commands/edit.ts'
import { explain } from './commands/explain.ts'
import { explainRequest } from './commands/explain-request.ts'
import { explainScheduleCommand } from './commands/explain-schedule.ts'
import { fault } from './commands/fault.ts'
import { get, watchCommand } from './commands/get.ts'
import { history } from './commands/history.ts'
import { apiResources, apiVersions, auth, config, version } from './commands/info.ts'
import { wait } from './commands/wait.ts'
import { why } from './commands/why.ts'
import { annotate, apply, create, describeError, label, patch, remove, replace, scale } from './commands/write.ts'
import { openSession, type Session } from './session.ts'
import { type CtlTerminal, type StatusTerminal, withStatusLine } from './terminal.ts'
import { CtlError, globalFlags, printFlags, readWords, wordFirst } from './words.ts'

const commands: Readonly<Record<string, Command | LocalCommand>> = {
  get,
  watch: watchCommand,
  describe,
  create,
  apply,
  replace,
  patch,
  edit,
  delete: remove,
  label,
  annotate,
  scale,
  wait,
  diff,
  explain,
  'explain-request': explainRequest,
  'explain-schedule': explainScheduleCommand,
  blame,
  history,
  why,
  fault,
  auth,
  config,
  version,
  'api-resources': apiResources,
  'api-versions': apiVersions,
  completion,
}

/** Runs the command of the arguments. Returns the exit code: 0, 1 for a failure, 2 for an invalid command line. */
export async function runCtl(process: CtlTerminal): Promise<number> {
  const terminal = withStatusLine(process)
  const [name, ...words] = wordFirst(globalFlags, terminal.arguments)
  if (name === undefined || name === 'help') return help(terminal, words[0])
  if (name === '__complete') return complete(terminal, words)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined && name.startsWith('-')) return helpUnlessUnknown(terminal, [name, ...words])
  if (command === undefined) {
    terminal.error(`error: unknown command "${name}" for "orchctl"${suggestion(name, Object.keys(commands))}\n`)
    return 2
  }
  try {
    const { flags, rest } = readWords({ ...globalFlags, ...command.flags }, words)
    if (flags.help) return help(terminal, name)
    if ('runLocally' in command) return (await command.runLocally({ terminal, flags, rest })) ?? 0
    const session = await openSession(terminal, flags)
    try {
      return (await command.run({ terminal, session, flags, rest })) ?? 0
    } finally {
      terminal.statusLine.close()
      session.close()
    }
  } catch (error) {
    terminal.error(`${explainFailure(error)}\n`)
    return 1
  }
}

/** Flags without a command. */
function helpUnlessUnknown(terminal: CtlTerminal, words: readonly string[]): number {
  try {
    readWords(globalFlags, words)
    return help(terminal, undefined)
  } catch (error) {
    terminal.error(`${explainFailure(error)}\n`)
    return 1
  }
}

/** Completion runs while a user types, so failures are omitted silently. */
async function complete(terminal: StatusTerminal, words: readonly string[]): Promise<number> {
  const { flags } = readWords(globalFlags, [])
  const opened: Session[] = []
  try {
    const found = await completions(commands, words, async () => {
      const session = await openSession(terminal, flags)
      opened.push(session)
      return session
    })
    terminal.out(found.map((word) => `${word}\n`).join(''))
    return 0
  } catch {
    return 1
  } finally {
    for (const session of opened) session.close()
  }
}

/** A failure that a user can resolve is one sentence; any other shows its stack. */
function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return `error: ${String(error)}`
  if (error instanceof StatusError || error instanceof CtlError || error instanceof ConfigurationError) return describeError(error)
  if (error instanceof UnsentError) return `Unable to connect to the server: ${error.message}`
  if ('code' in error) return `error: ${error.message}`
  return `error: ${error.stack ?? error.message}`
}

function help(terminal: CtlTerminal, name: string | undefined): number {
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command !== undefined) {
    terminal.out(
      `Usage: orchctl ${command.usage}\n\n${command.doc[0]?.toUpperCase()}${command.doc.slice(1)}.\n\n${printFlags(command.flags)}\nFlags of every command:\n${printFlags(globalFlags)}`,
    )
    return 0
  }
  const lines = Object.entries(commands).map(([known, { doc }]) => `  ${known.padEnd(17)}${doc}\n`)
  terminal.out(`Usage: orchctl <command> [flags]\n\nCommands:\n${lines.join('')}\norchctl help <command> lists the flags of a command.\n`)
  return 0
}
