import { ConfigurationError, UnsentError } from '@orch/client'
import { StatusError } from '@orch/core/meta'
import { suggestion } from '@orch/platform'
import type { Command } from './command.ts'
import { explain } from './commands/explain.ts'
import { get } from './commands/get.ts'
import { apiResources, apiVersions, auth, config, version } from './commands/info.ts'
import { wait } from './commands/wait.ts'
import { annotate, apply, create, describe, label, patch, remove, replace, scale } from './commands/write.ts'
import { openSession } from './session.ts'
import type { CtlTerminal } from './terminal.ts'
import { CtlError, globalFlags, printFlags, readWords } from './words.ts'

const commands: Readonly<Record<string, Command>> = {
  get,
  create,
  apply,
  replace,
  patch,
  delete: remove,
  label,
  annotate,
  scale,
  wait,
  explain,
  auth,
  config,
  version,
  'api-resources': apiResources,
  'api-versions': apiVersions,
}

/** Runs the command that the arguments name. Gives the exit code: 0, 1 for a failure, 2 for a command line that is none. */
export async function runCtl(terminal: CtlTerminal): Promise<number> {
  const [name, ...words] = terminal.arguments
  if (name === undefined || name === 'help' || name === '--help' || name === '-h')
    return help(terminal, name === 'help' ? words[0] : undefined)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) {
    terminal.error(`error: unknown command "${name}" for "orchctl"${suggestion(name, Object.keys(commands))}\n`)
    return 2
  }
  try {
    const { flags, rest } = readWords({ ...globalFlags, ...command.flags }, words)
    if (flags.help) return help(terminal, name)
    const session = await openSession(terminal, flags)
    try {
      return (await command.run({ terminal, session, flags, rest })) ?? 0
    } finally {
      session.close()
    }
  } catch (error) {
    terminal.error(`${explainFailure(error)}\n`)
    return 1
  }
}

/** A failure that a person can do something about is one sentence; any other shows where it happened. */
function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return `error: ${String(error)}`
  if (error instanceof StatusError || error instanceof CtlError || error instanceof ConfigurationError) return describe(error)
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
  const lines = Object.entries(commands).map(([known, { doc }]) => `  ${known.padEnd(15)}${doc}\n`)
  terminal.out(`Usage: orchctl <command> [flags]\n\nCommands:\n${lines.join('')}\norchctl help <command> lists the flags of a command.\n`)
  return 0
}
