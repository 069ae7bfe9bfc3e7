import { readAdmission } from '../admission/options.ts'
import { everythingServedWith } from '../api/options.ts'
import { readTrust } from '../certificates/service-trust.ts'
import { openAdmissionReplica } from '../distributed/admission-replica.ts'
import { readListenAddress, readServiceAddresses } from '../distributed/listen-address.ts'
import { printComplaint } from '../print-line.ts'
import type { Terminal } from '../process/terminal.ts'
import { admissionCommandSettings } from '../settings/commands.ts'
import { readCommandSettings } from '../settings/up-options.ts'
import { runService } from './run-service.ts'

/** `orch admission`: what is allowed to be, for gateways. */
export async function admission(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const { values: settings } = await readCommandSettings(admissionCommandSettings, terminal, flags)
  const { listen, shutdownDelayMs } = settings
  readListenAddress('--listen', listen)
  const trust = readTrust(settings, 'admission')
  const storageAddresses = readServiceAddresses('--storage-address', settings.storageAddress, trust)
  const options = readAdmission(settings)
  const api = everythingServedWith(settings)
  for (const warning of api.featureGates.warnings) terminal.error(printComplaint(settings.logFormat, 'warn', warning))
  return runService({
    name: 'admission',
    terminal,
    settings,
    api,
    probes: { address: readListenAddress('--probe-address', settings.probeAddress), tls: trust.tls },
    shutdownDelayMs,
    open: (world) => openAdmissionReplica({ trust, hasProcessMetrics: true, listen, storageAddresses, admission: options }, world),
  })
}
