import { SettingsError } from '@orch/platform'
import { readTrust } from '../certificates/service-trust.ts'
import { openGatewayReplica } from '../distributed/gateway-replica.ts'
import { readServiceAddresses } from '../distributed/listen-address.ts'
import { readGateway } from '../gateway/options.ts'
import { watchGraceMs } from '../limits.ts'
import { printComplaint } from '../print-line.ts'
import { gatewayCommandSettings } from '../settings/commands.ts'
import { readCommandSettings } from '../settings/up-options.ts'
import type { Terminal } from '../terminal.ts'
import { runService } from './run-service.ts'

/** `orch gateway`: the entry point for clients; its own port answers probes. */
export async function gateway(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const { values: settings } = await readCommandSettings(gatewayCommandSettings, terminal, flags)
  const groups = readGateway(settings)
  for (const warning of groups.api.featureGates.warnings) terminal.error(printComplaint(settings.logFormat, 'warn', warning))
  const { servingPair } = groups.serving
  if (servingPair === undefined) {
    throw new SettingsError(
      '--tls-cert-file and --tls-private-key-file are needed: several gateways show certificates that the same clients trust',
    )
  }
  if (groups.authentication.tokens.serviceAccounts.signingKey === undefined) {
    throw new SettingsError(
      '--service-account-signing-key-file is needed: what one gateway signs, the others have to accept, so all are given the same key',
    )
  }
  const trust = readTrust(settings, 'gateway')
  const addresses = {
    storageAddresses: readServiceAddresses('--storage-address', settings.storageAddress, trust),
    watchAddresses: readServiceAddresses('--watch-address', settings.watchAddress, trust),
    admissionAddresses: readServiceAddresses('--admission-address', settings.admissionAddress, trust),
  }
  const { advertiseAddress } = settings
  return runService({
    name: 'gateway',
    terminal,
    settings,
    api: groups.api,
    // The gateway itself goes on for that long.
    shutdownDelayMs: 0,
    open: (world) =>
      openGatewayReplica(
        {
          ...groups,
          ...addresses,
          trust,
          hasProcessMetrics: true,
          pair: servingPair,
          ownClients: '',
          advertiseAddress,
          graceMs: watchGraceMs,
        },
        world,
      ),
  })
}
