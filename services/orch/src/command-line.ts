import { printHelp, SettingsError, suggestion } from '@orch/platform'
import { upSettings } from './settings/up.ts'
import { StartError } from './start-error.ts'
import { productVersion, versionInfo } from './version.ts'

/** The process, as commands see it. */
export interface Terminal {
  readonly arguments: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
  out(text: string): void
  error(text: string): void
}

const commands: Readonly<Record<string, string>> = {
  up: 'start the server: all services in one process',
  version: 'print the version',
  help: 'print this help',
}

/** Runs the command that the arguments name. Answers the exit code, or undefined while a server goes on running. */
export async function runCommand(terminal: Terminal): Promise<number | undefined> {
  const [command = 'help', ...flags] = terminal.arguments
  const wantsHelp = flags.includes('--help') || flags.includes('-h')
  switch (command) {
    case 'up':
      if (wantsHelp) return print(terminal, printUpHelp())
      return guarded(terminal, async () => (await import('./up.ts')).up(terminal, flags))
    case 'version':
      return print(terminal, `orch ${productVersion} (API level ${versionInfo().major}.${versionInfo().minor}, Node ${process.version})\n`)
    case 'help':
    case '--help':
    case '-h':
      return print(terminal, printCommands())
  }
  terminal.error(`orch: unknown command ${command}${suggestion(command, Object.keys(commands))}\n`)
  return 2
}

/** The help of `orch up`. */
export function printUpHelp(): string {
  return `Usage: orch up [flags]\n\nStarts the server: all services in one process.\nA flag goes before its environment variable (in brackets), that before the file given by --config.\n\n${printHelp(upSettings)}`
}

function printCommands(): string {
  const lines = Object.entries(commands).map(([name, doc]) => `  ${name.padEnd(9)}${doc}\n`)
  return `Usage: orch <command> [flags]\n\nCommands:\n${lines.join('')}\norch up --help lists the flags of the server.\n`
}

function print(terminal: Terminal, text: string): number {
  terminal.out(text)
  return 0
}

/** A mistake of the caller is one sentence; anything else shows where it happened. */
async function guarded(terminal: Terminal, run: () => Promise<undefined>): Promise<number | undefined> {
  try {
    return await run()
  } catch (error) {
    const isExpected = error instanceof SettingsError || error instanceof StartError
    terminal.error(`orch: ${isExpected ? error.message : ((error as Error).stack ?? String(error))}\n`)
    return error instanceof SettingsError ? 2 : 1
  }
}
