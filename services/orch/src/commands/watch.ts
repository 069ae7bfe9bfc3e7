import type { Terminal } from '../command-line.ts'
import { openWatchReplica } from '../distributed/watch-replica.ts'
import { readListenAddress, readServiceAddresses } from '../options/addresses.ts'
import { readNats } from '../options/nats.ts'
import { readTrust } from '../options/trust.ts'
import { readCommandSettings } from '../options/up.ts'
import { watchCommandSettings } from '../settings/commands.ts'
import { runService } from './run-service.ts'

/** `orch watch`: what happened, for gateways. */
export async function watch(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const { values: settings } = await readCommandSettings(watchCommandSettings, terminal, flags)
  const { listen, shutdownDelayMs } = settings
  readListenAddress('--listen', listen)
  const trust = readTrust(settings, 'watch')
  const storageAddresses = readServiceAddresses('--storage-address', settings.storageAddress, trust)
  const feed = readNats(settings)
  return runService({
    name: 'watch',
    terminal,
    settings,
    probes: { address: readListenAddress('--probe-address', settings.probeAddress), tls: trust.tls },
    shutdownDelayMs,
    open: (world) => openWatchReplica({ trust, hasProcessMetrics: true, listen, storageAddresses, feed }, world),
  })
}
