import { dirname } from 'node:path'
import { ConfigurationError, parseConfiguration } from '@orch/client'
import { usualNamespaceDelayMs } from '@orch/controllers'
import { SettingsError } from '@orch/platform'
import { readTrust } from '../certificates/service-trust.ts'
import { readFlagFile } from '../configuration/flag-files.ts'
import { readControllers, readSecretTokens } from '../controllers/options.ts'
import { openControllersReplica } from '../distributed/controllers-replica.ts'
import { readListenAddress } from '../distributed/listen-address.ts'
import type { Terminal } from '../process/terminal.ts'
import { controllersCommandSettings } from '../settings/commands.ts'
import { readCommandSettings } from '../settings/up-options.ts'
import { runService } from './run-service.ts'

/** `orch controllers`: keeps objects as they are meant to be, as a client of the gateways. */
export async function controllers(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const { values: settings } = await readCommandSettings(controllersCommandSettings, terminal, flags)
  const { kubeconfig, leaderElect, impersonateServiceAccounts: impersonates } = settings
  if (kubeconfig === '') throw new SettingsError('--kubeconfig is needed: how the gateways are reached, and as whom')
  const trust = readTrust(settings, 'controllers')
  const configuration = await readConfiguration(kubeconfig)
  const servers = readServers(settings.servers)
  const secretTokens = readSecretTokens(settings, configuration.certificateAuthority ?? '')
  // Each gateway keeps the bootstrap objects itself, since it alone knows its addresses.
  const names = readControllers(settings).filter((name) => name !== 'bootstrap')
  return runService({
    name: 'controllers',
    terminal,
    settings,
    probes: { address: readListenAddress('--probe-address', settings.probeAddress), tls: trust.tls },
    shutdownDelayMs: 0,
    open: (world) =>
      openControllersReplica(
        {
          trust,
          hasProcessMetrics: true,
          configuration,
          servers,
          controllers: names,
          namespaceDelayMs: usualNamespaceDelayMs,
          leaderElect,
          impersonates,
          secretTokens,
        },
        world,
      ),
  })
}

function readServers(servers: readonly string[]): readonly string[] {
  const wrong = servers.find((server) => !URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol))
  if (wrong !== undefined) throw new SettingsError(`--servers=${wrong}: must be an address such as https://gateway:6443`)
  return servers
}

async function readConfiguration(path: string) {
  try {
    return await parseConfiguration(readFlagFile('--kubeconfig', path), { folder: dirname(path) })
  } catch (error) {
    if (error instanceof ConfigurationError) throw new SettingsError(`--kubeconfig=${path}: ${error.message}`)
    throw error
  }
}
