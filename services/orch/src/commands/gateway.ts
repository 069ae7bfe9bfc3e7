import { flagTexts, SettingsError, type Values } from '@orch/platform'
import { readAdmission } from '../admission/options.ts'
import { admissionSettings } from '../admission/settings.ts'
import { readTrust, type TrustOptions } from '../certificates/service-trust.ts'
import type { AdmissionPlace } from '../distributed/admission-place.ts'
import { openGatewayReplica } from '../distributed/gateway-replica.ts'
import { readServiceAddresses } from '../distributed/listen-address.ts'
import { readGateway } from '../gateway/options.ts'
import { printComplaint } from '../print-line.ts'
import type { Terminal } from '../process/terminal.ts'
import { gatewayCommandSettings } from '../settings/commands.ts'
import { readCommandSettings } from '../settings/up-options.ts'
import { runService } from './run-service.ts'

type GatewaySettings = Values<typeof gatewayCommandSettings>

/** Where admission is: its flags belong to the process that hosts it. */
export function readAdmissionPlace(settings: GatewaySettings, texts: ReadonlyMap<string, string>, trust: TrustOptions): AdmissionPlace {
  if (settings.admission === 'service') {
    const useless = Object.values(admissionSettings).find(({ flag }) => texts.has(flag))
    if (useless !== undefined) throw new SettingsError(`${useless.flag} needs --admission=in-process: else it is a flag of orch admission`)
    return { kind: 'service', addresses: readServiceAddresses('--admission-address', settings.admissionAddress, trust) }
  }
  if (settings.admissionAddress.length > 0) throw new SettingsError('--admission-address and --admission=in-process exclude each other')
  return { kind: 'in-process', settings: readAdmission(settings) }
}

/** `orch gateway`: the entry point for clients; its own port answers probes. */
export async function gateway(terminal: Terminal, flags: readonly string[]): Promise<undefined> {
  const { values: settings, texts } = await readCommandSettings(gatewayCommandSettings, terminal, flags)
  const groups = { ...readGateway(settings), flags: flagTexts(gatewayCommandSettings, texts) }
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
    admission: readAdmissionPlace(settings, texts, trust),
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
          graceMs: groups.serving.watchGraceMs,
        },
        world,
      ),
  })
}
