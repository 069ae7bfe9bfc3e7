import type { AdmissionService, WatchService } from '@orch/core/contracts'
import {
  createGateway,
  createWatchHub,
  eventDelays,
  type Gateway,
  type GatewayOptions,
  type HealthCheck,
  type ListenOptions,
} from '@orch/gateway'
import { type PairSource, systemCodeOf } from '@orch/platform'
import { type AuditNeeds, openAudit } from '../audit/open.ts'
import { type AuthenticationNeeds, openGatewayAuthentication } from '../authentication/open.ts'
import { type AuthorizationNeeds, openAuthorization } from '../authorization/open.ts'
import { type FrontProxy, followPair, openProxyFiles, type PortCertificates, toProxyPair } from '../certificates/gateway.ts'
import { type ConsoleNeeds, consoleOf } from '../console/open.ts'
import { AddressTakenError, StartError } from '../process/terminal.ts'
import { printHost, publicHost } from '../serving/loopback.ts'
import type { ServingOptions } from '../serving/settings.ts'
import type { Surroundings } from '../surroundings.ts'
import { versionInfo } from '../version.ts'
import type { GatewayGroups } from './settings.ts'

export interface GatewayNeeds
  extends AccessNeeds,
    Pick<ConsoleNeeds, 'hasUsualConsole'>,
    Pick<
      GatewayOptions,
      | 'hasOwnAdmission'
      | 'nodes'
      | 'limitShare'
      | 'keepsExplanations'
      | 'runsControllers'
      | 'runsScheduler'
      | 'requestLog'
      | 'control'
      | 'order'
    > {
  readonly watch: WatchService
  readonly admission: AdmissionService
  /** The server that this one continues; then admission may open with the first write. */
  readonly base?: object | undefined
  readonly checks: readonly HealthCheck[]
  /** The client certificate for the servers of APIServices; by default from the files, or the server's own. */
  readonly proxyPair?: PairSource | undefined
  readonly frontProxy?: FrontProxy | undefined
  /** Undefined if no other part needs it; then it is opened here. */
  readonly access?: GatewayAccess
}

/** A gateway over the other services. The caller closes it. */
export async function openGateway(needs: GatewayNeeds, surroundings: Surroundings): Promise<Gateway> {
  const { catalogue, chance, clock, lifecycle, log, tracer, faults } = surroundings
  const onDelay = eventDelays(needs.metrics)
  const hub = createWatchHub({ watch: needs.watch, clock, log, random: chance.fraction, tracer, onDelay })
  const watchHub = lifecycle.opened('watch hub', hub)
  const { authentication, authorization, audit } = needs.access ?? (await openAccess(needs, surroundings))
  const { pairFiles, ...kubelets } = needs.kubelets
  const kubeletPair = pairFiles && followPair(pairFiles, surroundings)
  const proxyPair = needs.proxyPair ?? openProxyFiles(needs.aggregation, surroundings)
  return createGateway({
    ...needs,
    ...{ catalogue, chance, clock, log, tracer, watchHub, faults },
    auditor: audit?.auditor,
    hasLateAdmission: needs.base !== undefined,
    version: versionInfo(needs.api.level),
    console: consoleOf(needs),
    authentication,
    anonymousAuth: authentication.anonymous,
    authorization,
    aggregation: { ...needs.aggregation, proxyPair: toProxyPair(proxyPair, needs.frontProxy) },
    kubelets: { ...kubelets, pair: () => kubeletPair?.current },
    checks: [...needs.checks, authentication.check, authorization.check],
  })
}

export interface PortOptions {
  readonly serving: ServingOptions
  /** Shares the port with further threads; undefined without them. */
  readonly sharing?: ListenOptions['sharing']
  /** Sockets of this thread at a shared port. */
  readonly portSockets?: number
  readonly certificates: PortCertificates
  /** The address of this gateway for other processes; '' for its listening address. */
  readonly advertiseAddress?: string
}

/** Opens the port for clients; returns its number. */
export async function listenForClients(
  gateway: Gateway,
  { serving, sharing, portSockets, certificates, advertiseAddress = '' }: PortOptions,
): Promise<number> {
  const { bindAddress, securePort } = serving
  try {
    return await gateway.listen({
      host: bindAddress,
      publicHost: publicHost(advertiseAddress === '' ? bindAddress : advertiseAddress),
      port: securePort,
      sharing,
      portSockets,
      pair: certificates.serving,
      namedPairs: certificates.named,
      authorities: certificates.authorities,
      minVersion: serving.tlsMinVersion,
      ciphers: serving.ciphers,
      curves: serving.curves,
      streamsPerConnectionMax: serving.streamsPerConnectionMax,
      goawayChance: serving.goawayChance,
    })
  } catch (error) {
    throw explainListenFailure(error, bindAddress, securePort)
  }
}

function explainListenFailure(error: unknown, address: string, port: number): unknown {
  const code = systemCodeOf(error)
  if (code === 'EADDRINUSE') {
    return new AddressTakenError(
      `port ${port} on ${address} is in use by another program; choose another with --secure-port, or 0 for any free one`,
      { address: `${printHost(address)}:${port}`, cause: error },
    )
  }
  if (code === 'EACCES')
    return new StartError(`port ${port} on ${address} may not be opened by this user; choose another with --secure-port`)
  if (code === 'EADDRNOTAVAIL') return new StartError(`this machine does not have the address ${address} of --bind-address`)
  return error
}

/** The dependencies of authentication, authorization and audit. */
export interface AccessNeeds
  extends GatewayGroups,
    Omit<AuditNeeds, 'audit' | 'api'>,
    Omit<AuthenticationNeeds, 'authentication'>,
    Omit<AuthorizationNeeds, 'authorization' | 'storage' | 'metrics'> {}

/** Authentication, authorization and audit of a gateway. */
export type GatewayAccess = Awaited<ReturnType<typeof openAccess>>

/** Opens all three; the caller closes them with the gateway. */
export async function openAccess(needs: AccessNeeds, surroundings: Surroundings) {
  return {
    authentication: await openGatewayAuthentication(needs, surroundings),
    authorization: await openAuthorization(needs, surroundings),
    /** Undefined without an audit policy. */
    audit: await openAudit(needs, surroundings),
  }
}
