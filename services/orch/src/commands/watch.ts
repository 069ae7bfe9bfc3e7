import { readNats } from '../backends/nats-options.ts'
import { readTrust } from '../certificates/service-trust.ts'
import { readListenAddress, readServiceAddresses } from '../distributed/listen-address.ts'
import { openWatchReplica } from '../distributed/watch-replica.ts'
import type { Terminal } from '../process/terminal.ts'
import { watchCommandSettings } from '../settings/commands.ts'
import { readCommandSettings } from '../settings/up-options.ts'
import { runService } from './run-service.ts'

/** `orch watch`: what happened, for gateways. */
export async function watch(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const { values: settings } = await readCommandSettings(watchCommandSettings, terminal, flags)
  const { listen, shutdownDelayMs } = settings
  readListenAddress('--listen', listen)
  const trust = readTrust(settings, 'watch')
  const storageAddresses = readServiceAddresses('--storage-address', settings.storageAddress, trust)
  const changeStream = readNats(settings)
  return runService({
    name: 'watch',
    terminal,
    settings,
    probes: { address: readListenAddress('--probe-address', settings.probeAddress), tls: trust.tls },
    shutdownDelayMs,
    open: (world) => openWatchReplica({ trust, hasProcessMetrics: true, listen, storageAddresses, changeStream }, world),
  })
}
