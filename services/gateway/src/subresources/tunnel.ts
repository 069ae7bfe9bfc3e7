import { badRequest, failed, StatusError } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import type { Clock } from '@orch/platform'
import { type Authorizer, decide } from '../authorization/authorizer.ts'
import type { Upgrade } from '../exchange/exchange.ts'
import type { KubeletPlace } from '../kubelets/kubelet-place.ts'
import { limits } from '../limits.ts'
import { type GatewayRequest, PlainRefusal } from '../request/index.ts'
import type { Target } from '../target/target.ts'
import type { GateParts } from '../write/draft.ts'
import { type ConnectParts, hostOf, type Pod, type SimulatedPod, simulatedPod } from './connect.ts'
import { requireKubelet } from './kubelet.ts'

/** The dependencies of a tunnel into a Pod. */
export type TunnelParts = ConnectParts &
  GateParts & {
    readonly names: Names
    readonly authorizers: readonly Authorizer[]
    readonly clock: Pick<Clock, 'after'>
  }

/** A GET opens the same tunnel as a POST, so its caller must be allowed to create, by gate from 1.35 on. */
export async function permitCreation({ info, user }: GatewayRequest, { authorizers, isGateOn }: TunnelParts): Promise<void> {
  if (info.kind === 'path' || info.verb === 'create' || !isGateOn('AuthorizePodWebsocketUpgradeCreatePermission')) return
  const { kind, reason } = await decide(authorizers, user, { ...info, verb: 'create' })
  if (kind === 'allow') return
  const { name, resource } = info
  throw failed(403, 'Forbidden', `${resource} ${JSON.stringify(name)} is forbidden: ${reason}`, { details: { name, kind: resource } })
}

/** The target of a tunnel, in a Pod of a simulated node or at a kubelet, and the connection of its client. */
export type TunnelPlace = SimulatedTunnel | KubeletTunnel

/** The target of a tunnel in a Pod of a simulated node. */
export interface SimulatedTunnel extends SimulatedPod {
  readonly kind: 'simulated'
  readonly upgrade: Upgrade
}

/** The target of a tunnel at a kubelet. */
export interface KubeletTunnel {
  readonly kind: 'kubelet'
  readonly kubelet: KubeletPlace
  readonly upgrade: Upgrade
}

/** The target of a tunnel. An unscheduled Pod, an unreachable node, and a request without an upgrade are refused. */
export async function requirePlace(request: GatewayRequest, target: Target, pod: Pod, parts: TunnelParts): Promise<TunnelPlace> {
  const host = hostOf(target, pod)
  if (host === undefined) throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`)
  const { upgrade } = request.exchange
  const simulated = await simulatedPod(pod, parts)
  const place = simulated ?? { kubelet: await requireKubelet(request, host, parts) }
  if (upgrade === undefined) throw badRequest('Upgrade request required')
  return 'kubelet' in place ? { kind: 'kubelet', ...place, upgrade } : { kind: 'simulated', ...place, upgrade }
}

/** The refusal of a node, in the form of a kubelet's answer. */
export function refusalOfNode(error: unknown): unknown {
  if (!(error instanceof StatusError)) return error
  const isOfPod = error.reason === 'NotFound' && error.status.details?.kind === 'pods'
  return isOfPod ? new PlainRefusal(404, 'pod does not exist') : new PlainRefusal(error.code, error.message)
}

/** Runs a tunnel until its body ends. The server closes it when it stops, or when it is idle for hours. */
export async function runTunnel(
  request: GatewayRequest,
  { upgrade: { socket }, close, state }: { readonly upgrade: Upgrade; readonly close: () => void } & Pick<TunnelParts, 'state'>,
  body: () => Promise<void>,
): Promise<void> {
  request.leave()
  request.audit?.responseStarted()
  const open = { request, finish: close, compare() {} }
  state.watches.add(open)
  socket.setTimeout(limits.tunnelIdleMs, close)
  try {
    await body()
  } finally {
    state.watches.delete(open)
    // The last bytes are delivered, and then a client that stays connected is disconnected.
    socket.destroySoon()
  }
}
