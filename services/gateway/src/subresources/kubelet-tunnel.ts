import { failed, OutsideError } from '@orch/core/meta'
import { unreachedReason } from '@orch/platform/webhooks'
import { passAnswer } from '../aggregation/pass-answer.ts'
import { joinStreams, passUpgrade, type Upgraded } from '../aggregation/pass-upgrade.ts'
import type { KubeletPlace } from '../kubelets/kubelet-place.ts'
import { limits } from '../limits.ts'
import type { GatewayRequest } from '../request/request.ts'
import { ChannelSocket } from '../streams/channels.ts'
import {
  type CommandForm,
  type CommandStreams,
  channelCommandForms,
  channelTunnel,
  commandChannels,
  failedResult,
  spdyCommandVersions,
} from '../streams/command-tunnel.ts'
import { portProtocol, tunnelSubprotocol } from '../streams/port-tunnel.ts'
import { SpdyConnection } from '../streams/spdy.ts'
import { joinSpdyCommand } from '../streams/spdy-command.ts'
import { byteStreamOf, offeredChannels, openWebSocket } from '../streams/upgrade.ts'
import { type Asked, outgoingOf, readRefusal, unreached, whileOpen } from './kubelet.ts'
import { type KubeletTunnel, runTunnel, type TunnelParts } from './tunnel.ts'

/** A tunnel to a path of a kubelet, with its query. */
type PlacedTunnel = KubeletTunnel & { readonly path: string }

/**
 * A tunnel to a command by a kubelet. The connection is forwarded unchanged, except for version 5 over WebSocket, which older kubelets do not support:
 * it ends here, and the kubelet is called over SPDY.
 */
export async function enterByKubelet(
  request: GatewayRequest,
  tunnel: PlacedTunnel,
  streams: CommandStreams,
  parts: TunnelParts,
): Promise<void> {
  const newest = [...channelCommandForms(parts.names)].find(([subprotocol, { hasEnds }]) => hasEnds && isOffered(request, subprotocol))
  if (newest === undefined || !parts.isGateOn('TranslateStreamCloseWebsocketRequests') || takesWebSockets(tunnel.kubelet, parts)) {
    return passTunnel(request, tunnel, parts)
  }
  const [subprotocol, form] = newest
  return translate(request, { ...tunnel, subprotocol, form }, streams, parts)
}

/** A tunnel to ports by a kubelet. SPDY in the messages of a WebSocket ends here, and the kubelet gets plain SPDY. */
export async function forwardByKubelet(request: GatewayRequest, tunnel: PlacedTunnel, parts: TunnelParts): Promise<void> {
  const subprotocol = tunnelSubprotocol(parts.names)
  if (!isOffered(request, subprotocol) || !parts.isGateOn('PortForwardWebsockets') || takesWebSockets(tunnel.kubelet, parts)) {
    return passTunnel(request, tunnel, parts)
  }
  const { upgrade, kubelet, path } = tunnel
  const protocol = portProtocol(parts.names)
  const upgraded = await upgradeAt(request, { kubelet, asked: spdyRequest(path, protocol) }, parts)
  if (upgraded === undefined) return
  const client = await byteStreamOf(await openWebSocket(request, upgrade, subprotocol))
  await runTunnel(request, { upgrade, state: parts.state, close: () => client.destroy() }, async () => {
    const { socket, head } = upgraded
    client.write(head)
    await joinStreams(client, socket)
  })
}

function isOffered(request: GatewayRequest, subprotocol: string): boolean {
  return offeredChannels(request)?.includes(subprotocol) === true
}

/** From 1.36 on kubelets may declare support for the newest forms over WebSocket. */
function takesWebSockets({ features }: KubeletPlace, { isGateOn }: TunnelParts): boolean {
  return isGateOn('ExtendWebSocketsToKubelet') && features.has('ExtendWebSocketsToKubelet')
}

function spdyRequest(path: string, spoken: string): Asked {
  return { method: 'POST', path, upgrade: { protocol: 'SPDY/3.1', spoken } }
}

/** Forwards the client's own request, and connects both sockets. */
async function passTunnel(request: GatewayRequest, { upgrade, kubelet, path }: PlacedTunnel, parts: TunnelParts): Promise<void> {
  const asked = { method: request.method, path, upgrade: { protocol: request.exchange.header('upgrade') ?? '' } }
  const upgraded = await upgradeAt(request, { kubelet, asked }, parts)
  if (upgraded === undefined) return
  const close = () => upgraded.socket.destroy()
  await runTunnel(request, { upgrade, state: parts.state, close }, () => passUpgrade(request, upgrade, upgraded))
}

interface AskedUpgrade {
  readonly kubelet: KubeletPlace
  readonly asked: Asked
}

/** The kubelet's upgrade. Its refusal is forwarded to the client; the result is undefined then. */
function upgradeAt(request: GatewayRequest, asked: AskedUpgrade, parts: TunnelParts): Promise<Upgraded | undefined> {
  return whileOpen(request, parts, async (signal) => {
    const answer = await askForUpgrade(request, { ...asked, signal }, parts).catch((error: unknown) => {
      throw unreached('error dialing backend: ', error)
    })
    if (answer.kind === 'upgraded') return answer
    const { response } = answer
    if (response.code < 400) {
      response.destroy()
      throw new OutsideError(failed(500, '', `invalid upgrade response: status code ${response.code}`).status)
    }
    await passAnswer(request, response, { state: parts.state, rejectsRedirects: true })
    return undefined
  })
}

function askForUpgrade(
  request: GatewayRequest,
  { kubelet: { node, host, port }, asked, signal }: AskedUpgrade & { readonly signal: AbortSignal },
  { kubelets }: TunnelParts,
) {
  const target = { kind: 'kubelet', node, host, port } as const
  return kubelets.send(outgoingOf(request, target, asked), target, { signal, headMs: limits.streamOpeningMs })
}

/** Terminates version 5 here, and runs the command over SPDY. A failing kubelet becomes the Status of the command. */
async function translate(
  request: GatewayRequest,
  { upgrade, kubelet, path, subprotocol, form }: PlacedTunnel & { readonly subprotocol: string; readonly form: CommandForm },
  streams: CommandStreams,
  parts: TunnelParts,
): Promise<void> {
  const socket = new ChannelSocket(await openWebSocket(request, upgrade, subprotocol), form, commandChannels)
  const tunnel = await channelTunnel(socket, form, streams)
  const [spoken = ''] = spdyCommandVersions(parts.names).keys()
  const run = async () => {
    const ending = new AbortController()
    void tunnel.closed.then(() => ending.abort())
    const answer = await askForUpgrade(request, { kubelet, asked: spdyRequest(path, spoken), signal: ending.signal }, parts)
    if (answer.kind === 'response') throw new Error(`unable to upgrade connection: ${await readRefusal(answer.response)}`)
    const connection = new SpdyConnection({ socket: answer.socket, head: answer.head, isClient: true, onStream: () => false })
    try {
      const status = await joinSpdyCommand(tunnel, connection, streams)
      if (status === undefined) throw new Error('error reading from error stream: unexpected EOF')
      return status
    } finally {
      answer.socket.destroy()
    }
  }
  await runTunnel(request, { upgrade, state: parts.state, close: () => tunnel.close() }, async () => {
    await tunnel.finish(await run().catch((error: unknown) => failedResult(unreachedReason(error))))
  })
}
