import { eachSetting, flagText, type LogFormat, printHelp, type Settings, SettingsError, stackOf, suggestion } from '@orch/platform'
import type { serverCommandNames } from './process/before-modules.ts'
import { AddressTakenError, isExpected, printComplaint, type Terminal } from './process/terminal.ts'
import { defaultRelease, productVersion } from './version.ts'

/** A command with settings. Its dependencies are loaded only when it is selected. */
export interface SettingsCommand {
  readonly doc: string
  /** Arguments beside the flags. */
  readonly words?: string
  settings(): Promise<Settings>
  /** Its exit code; undefined while a server continues to run. */
  run(terminal: Terminal, flags: readonly string[]): Promise<number | undefined>
}

/** Commands that start servers. */
export const serverCommands: Readonly<Record<string, SettingsCommand>> = {
  up: {
    doc: 'start the server: all services in one process, or each in its own with --distributed',
    settings: async () => (await import('./settings/up.ts')).upSettings,
    run: async (terminal, flags) => (await import('./up.ts')).up(terminal, flags),
  },
  gateway: {
    doc: 'start a gateway: the entry point for clients',
    settings: async () => (await import('./distributed/settings.ts')).gatewayCommandSettings,
    run: async (terminal, flags) => (await import('./distributed/gateway.ts')).gateway(terminal, flags),
  },
  storage: {
    doc: 'start a storage: the state and its changes',
    settings: async () => (await import('./distributed/settings.ts')).storageCommandSettings,
    run: async (terminal, flags) => (await import('./distributed/storage.ts')).storage(terminal, flags),
  },
  watch: {
    doc: 'start a watch: delivers changes to gateways',
    settings: async () => (await import('./distributed/settings.ts')).watchCommandSettings,
    run: async (terminal, flags) => (await import('./distributed/watch.ts')).watch(terminal, flags),
  },
  admission: {
    doc: 'start an admission: evaluates admission plugins and webhooks for gateways',
    settings: async () => (await import('./distributed/settings.ts')).admissionCommandSettings,
    run: async (terminal, flags) => (await import('./distributed/admission.ts')).admission(terminal, flags),
  },
  controllers: {
    doc: 'start the controllers: clients that reconcile the actual state with the desired one',
    settings: async () => (await import('./distributed/settings.ts')).controllersCommandSettings,
    run: async (terminal, flags) => (await import('./distributed/controllers.ts')).controllers(terminal, flags),
  },
  nodes: {
    doc: 'start simulated nodes: clients that run Pods without containers',
    settings: async () => (await import('./distributed/settings.ts')).nodesCommandSettings,
    run: async (terminal, flags) => (await import('./distributed/nodes.ts')).nodes(terminal, flags),
  },
  backends: {
    doc: 'start an etcd and a nats-server on this machine, for trying out',
    settings: async () => (await import('./distributed/backends.ts')).backendsCommandSettings,
    run: async (terminal, flags) => (await import('./distributed/backends.ts')).backends(terminal, flags),
  },
} satisfies Record<(typeof serverCommandNames)[number], SettingsCommand>

/** Commands that end by themselves. */
const endingCommands: Readonly<Record<string, SettingsCommand>> = {
  status: {
    doc: 'say whether a server runs on a data folder, where, and whether it is ready',
    settings: async () => (await import('./instance/folders.ts')).instanceSettings,
    run: async (terminal, flags) => (await import('./instance/commands.ts')).status(terminal, flags),
  },
  console: {
    doc: 'print a link that opens the console of a server once, within a minute',
    settings: async () => (await import('./instance/folders.ts')).instanceSettings,
    run: async (terminal, flags) => (await import('./instance/commands.ts')).console(terminal, flags),
  },
  stop: {
    doc: 'end the server of a data folder',
    settings: async () => (await import('./instance/commands.ts')).stopSettings,
    run: async (terminal, flags) => (await import('./instance/commands.ts')).stop(terminal, flags),
  },
  reset: {
    doc: 'delete all objects of a data folder on which no server runs',
    settings: async () => (await import('./instance/commands.ts')).resetSettings,
    run: async (terminal, flags) => (await import('./instance/commands.ts')).reset(terminal, flags),
  },
  backup: {
    doc: 'write all objects at one revision to a file, also while a server runs: orch backup objects.backup',
    words: 'FILE',
    settings: async () => (await import('./backup/backup.ts')).backupSettings,
    run: async (terminal, flags) => (await import('./backup/backup.ts')).backup(terminal, flags),
  },
  restore: {
    doc: 'make the objects of a data folder or of etcd those of a backup: orch restore objects.backup',
    words: 'FILE',
    settings: async () => (await import('./backup/backup.ts')).restoreSettings,
    run: async (terminal, flags) => (await import('./backup/backup.ts')).restore(terminal, flags),
  },
  load: {
    doc: 'load dumps of a cluster (kubectl, must-gather, crust-gather, velero, etcd) into a server with --control: orch load dump.yaml',
    words: 'PATH...',
    settings: async () => (await import('./load/command.ts')).loadSettings,
    run: async (terminal, flags) => (await import('./load/command.ts')).loadCommand(terminal, flags),
  },
  types: {
    doc: 'print TypeScript types of CustomResourceDefinitions, of files or of a running server: orch types config/crd',
    words: '[PATH...]',
    settings: async () => (await import('./types/command.ts')).typesSettings,
    run: async (terminal, flags) => (await import('./types/command.ts')).typesCommand(terminal, flags),
  },
  validate: {
    doc: 'check files of objects as a server would, with file and line, for CI: orch validate deploy/',
    words: 'PATH...',
    settings: async () => (await import('./validate/validate.ts')).validateSettings,
    run: async (terminal, flags) => (await import('./validate/validate.ts')).validate(terminal, flags),
  },
  audit: {
    doc: 'tell what a policy, a definition or a role would refuse of all that a server or a dump stores: orch audit policy.yaml',
    words: 'PATH...',
    settings: async () => (await import('./what-if/audit.ts')).auditSettings,
    run: async (terminal, flags) => (await import('./what-if/audit.ts')).auditCommand(terminal, flags),
  },
  explore: {
    doc: 'run a test command under many orders of requests and faults: orch explore --seeds 1..200 -- npm test',
    words: '-- COMMAND',
    settings: async () => (await import('./start/explore/explore.ts')).exploreSettings,
    run: async (terminal, flags) => (await import('./start/explore/explore.ts')).exploreCommand(terminal, flags),
  },
  kubeconfig: {
    doc: "print the administrator's client configuration, or merge it into that of the user",
    settings: async () => (await import('./instance/kubeconfig.ts')).kubeconfigSettings,
    run: async (terminal, flags) => (await import('./instance/kubeconfig.ts')).kubeconfig(terminal, flags),
  },
}

const settingsCommands: Readonly<Record<string, SettingsCommand>> = { ...serverCommands, ...endingCommands }

const otherCommands: Readonly<Record<string, string>> = {
  ctl: 'the command-line client, orchctl: get, apply, delete, wait and others',
  'envtest-assets': 'write the programs that envtest starts: use, list, cleanup, version',
  trace: 'print the trace of a failed test: orch trace show FILE',
  version: 'print the version',
  help: 'print this help, or that of a command: orch help gateway',
}

/** Runs the command of the arguments. Returns the exit code, or undefined while a server continues to run. */
export async function runCommand(terminal: Terminal): Promise<number | undefined> {
  const [command = 'help', ...flags] = terminal.arguments
  if (Object.hasOwn(settingsCommands, command)) {
    if (flags.includes('--help') || flags.includes('-h')) return print(terminal, await printCommandHelp(command))
    if (flags.includes('--version')) return print(terminal, printVersion())
    return runWithSettings(command, terminal, flags)
  }
  switch (command) {
    case 'ctl':
      return (await import('./ctl.ts')).ctl(terminal, flags)
    case 'envtest-assets':
      return runAssets(terminal, flags)
    case 'trace': {
      const { traceCommand, traceHelp } = await import('./trace/show-trace.ts')
      return flags.some((word) => word === '--help' || word === '-h') ? print(terminal, traceHelp) : traceCommand(terminal, flags)
    }
    case 'version':
    case '--version':
      return print(terminal, printVersion())
    case 'help':
    case '--help':
    case '-h':
      return help(terminal, flags)
  }
  return unknownCommand(terminal, command)
}

async function runAssets(terminal: Terminal, words: readonly string[]): Promise<number> {
  if (words.some((word) => word === '--help' || word === '-h')) return help(terminal, ['envtest-assets'])
  const { envtestAssets } = await import('./envtest/assets.ts')
  try {
    return await envtestAssets(terminal, words)
  } catch (error) {
    if (!isExpected(error)) throw error
    terminal.error(`orch: ${error.message}\n`)
    return error instanceof SettingsError ? 2 : 1
  }
}

async function help(terminal: Terminal, [command, ...rest]: readonly string[]): Promise<number> {
  if (command === undefined) return print(terminal, printCommands())
  if (Object.hasOwn(settingsCommands, command)) return print(terminal, await printCommandHelp(command))
  switch (command) {
    case 'ctl':
      return (await import('./ctl.ts')).ctl(terminal, ['help', ...rest])
    case 'envtest-assets':
      return print(terminal, (await import('./envtest/assets-words.ts')).assetsHelp)
    case 'trace':
      return print(terminal, (await import('./trace/show-trace.ts')).traceHelp)
    case 'version':
    case 'help':
      return print(terminal, `Usage: orch ${command}\n\n${sentence(otherCommands[command] ?? '')}\n`)
  }
  return unknownCommand(terminal, command)
}

function unknownCommand(terminal: Terminal, command: string): number {
  const known = [...Object.keys(settingsCommands), ...Object.keys(otherCommands)]
  terminal.error(`orch: unknown command ${command}${suggestion(command, known)}\n`)
  return 2
}

/** The help of a command with settings. */
export async function printCommandHelp(name: string): Promise<string> {
  const command = settingsCommands[name]
  if (command === undefined) throw new Error(`there is no command ${name}`)
  return `Usage: orch ${name} [flags]${command.words === undefined ? '' : ` ${command.words}`}\n\n${sentence(command.doc)}\nA flag takes precedence over its environment variable (in brackets), and that over the file given by --config.\n\n${printHelp(eachSetting(await command.settings()))}`
}

function printCommands(): string {
  const docs = { ...Object.fromEntries(Object.entries(settingsCommands).map(([name, { doc }]) => [name, doc])), ...otherCommands }
  const width = Math.max(...Object.keys(docs).map((name) => name.length)) + 2
  const lines = Object.entries(docs).map(([name, doc]) => `  ${name.padEnd(width)}${doc}\n`)
  return `Usage: orch <command> [flags]\n\nCommands:\n${lines.join('')}\norch help <command> lists the flags of a command.\n`
}

function sentence(doc: string): string {
  return `${doc[0]?.toUpperCase()}${doc.slice(1)}.`
}

function printVersion(): string {
  return `orch ${productVersion} (API level ${defaultRelease}, Node ${process.version})\n`
}

function print(terminal: Terminal, text: string): number {
  terminal.out(text)
  return 0
}

/** An error of the user is one sentence; any other shows its stack. */
async function runWithSettings(command: string, terminal: Terminal, flags: readonly string[]): Promise<number | undefined> {
  try {
    return await settingsCommands[command]?.run(terminal, flags)
  } catch (error) {
    const reason = isExpected(error) ? error.message : stackOf(error)
    terminal.error(printComplaint(await logFormatOf(command, terminal, flags), 'error', reason))
    await terminal.notify?.({
      kind: 'failed',
      reason,
      ...(error instanceof AddressTakenError ? { takenAddress: error.address } : {}),
    })
    return error instanceof SettingsError ? 2 : 1
  }
}

/** The log format of the settings; if they are invalid, that of the flags or the environment. */
async function logFormatOf(command: string, terminal: Terminal, flags: readonly string[]): Promise<LogFormat> {
  const { generalSettings } = await import('./settings/general.ts')
  const { logFormat } = generalSettings
  try {
    const { readCommandSettings } = await import('./settings/general.ts')
    const settings = { ...(await settingsCommands[command]?.settings()), ...generalSettings }
    return (await readCommandSettings(settings, { ...terminal, error: () => {} }, flags)).values.logFormat
  } catch {
    return logFormat.type.parse(flagText(flags, logFormat.flag) ?? terminal.env[logFormat.env] ?? '') ?? 'text'
  }
}
