import type { Terminal } from '../command-line.ts'
import { openAdmissionReplica } from '../distributed/admission-replica.ts'
import { readListenAddress, readServiceAddresses } from '../options/addresses.ts'
import { readAdmission } from '../options/admission.ts'
import { readTrust } from '../options/trust.ts'
import { readCommandSettings } from '../options/up.ts'
import { admissionCommandSettings } from '../settings/commands.ts'
import { runService } from './run-service.ts'

/** `orch admission`: what is allowed to be, for gateways. */
export async function admission(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const { values: settings } = await readCommandSettings(admissionCommandSettings, terminal, flags)
  const { listen, shutdownDelayMs } = settings
  readListenAddress('--listen', listen)
  const trust = readTrust(settings, 'admission')
  const storageAddresses = readServiceAddresses('--storage-address', settings.storageAddress, trust)
  const options = readAdmission(settings)
  return runService({
    name: 'admission',
    terminal,
    settings,
    probes: { address: readListenAddress('--probe-address', settings.probeAddress), tls: trust.tls },
    shutdownDelayMs,
    open: (world) => openAdmissionReplica({ trust, hasProcessMetrics: true, listen, storageAddresses, admission: options }, world),
  })
}
