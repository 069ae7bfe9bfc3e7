import { StatusError } from '@orch/core/meta'
import { requireType } from '@orch/core/schema'
import { openSession, sendInput } from '@orch/platform'
import { type GatewayRequest, originOf, PlainRefusal } from '../request/index.ts'
import { ChannelSocket } from '../streams/channels.ts'
import {
  channelConnections,
  channelPortForms,
  type PortConnection,
  portChannels,
  portOf,
  portProtocol,
  SpdyPortStreams,
  tunnelSubprotocol,
} from '../streams/port-tunnel.ts'
import { SpdyConnection } from '../streams/spdy.ts'
import { byteStreamOf, chooseForm, negotiateProtocol, offeredChannels, openSpdySocket, openWebSocket } from '../streams/upgrade.ts'
import type { SubresourceVerb } from '../verbs/verb.ts'
import { requireObject, type SimulatedPod } from './connect.ts'
import { admitConnection } from './connection-options.ts'
import { pathOfPod, printQuery } from './kubelet.ts'
import { forwardByKubelet } from './kubelet-tunnel.ts'
import { permitCreation, requirePlace, runTunnel, type SimulatedTunnel, type TunnelParts } from './tunnel.ts'

/** A tunnel to ports of a Pod. */
export const forwardPort: SubresourceVerb<TunnelParts> = async (request, target, parts) => {
  await admitConnection(request, target, parts)
  await permitCreation(request, parts)
  const pod = requireType('core/v1.Pod', await requireObject(request, target, parts))
  const place = await requirePlace(request, target, pod, parts)
  if (place.kind === 'kubelet') {
    const ports = request.query.all('ports').join(',')
    const path = `/portForward/${pathOfPod(pod)}${printQuery(ports === '' ? [] : [['port', ports]])}`
    return forwardByKubelet(request, { ...place, path }, parts)
  }
  const offered = offeredChannels(request)
  const tunnel = tunnelSubprotocol(parts.names)
  if (offered !== undefined && !offered.includes(tunnel)) return forwardChannels(request, offered, place, parts)
  const { upgrade } = place
  const { socket, head } =
    offered === undefined
      ? { socket: openSpdySocket(request, upgrade, negotiateProtocol(request, [portProtocol(parts.names)], true)), head: upgrade.head }
      : { socket: await byteStreamOf(await openWebSocket(request, upgrade, tunnel)), head: new Uint8Array() }
  const pairs = new SpdyPortStreams(parts.clock, (connection) => void forwardConnection(request, connection, place))
  const connection = new SpdyConnection({ socket, head, onStream: (stream, openCount) => pairs.add(stream, openCount) })
  await runTunnel(request, { upgrade, state: parts.state, close: () => connection.close() }, () => connection.closed)
  pairs.close()
}

/** The older form over WebSocket, with the ports in the query. */
async function forwardChannels(
  request: GatewayRequest,
  offered: readonly string[],
  place: SimulatedTunnel,
  parts: TunnelParts,
): Promise<void> {
  const ports = portsOf(request)
  const { subprotocol, form } = chooseForm(offered, channelPortForms(parts.names))
  const { upgrade } = place
  const socket = new ChannelSocket(await openWebSocket(request, upgrade, subprotocol), form, portChannels(ports))
  await runTunnel(request, { upgrade, state: parts.state, close: () => socket.close() }, async () => {
    const connections = await channelConnections(socket, ports)
    await Promise.all(connections.map((connection) => forwardConnection(request, connection, place)))
    socket.close()
    await socket.closed
  })
}

/** Maximum ports of one tunnel over channels: a channel number is one byte, and each port uses two. */
const portsMax = 64

function portsOf({ query }: GatewayRequest): number[] {
  const texts = query.all('ports').flatMap((value) => value.split(','))
  if (texts.length === 0) throw new PlainRefusal(400, 'query parameter "port" is required')
  if (texts.length > portsMax) throw new PlainRefusal(400, `query parameter "port" names more than ${portsMax} ports`)
  return texts.map((text) => {
    const port = portOf(text)
    if (port === undefined) throw new PlainRefusal(400, `unable to parse ${JSON.stringify(text)} as a port: must be from 1 to 65535`)
    return port
  })
}

/** Forwards the bytes of one connection in both directions. A failure is a text for the client. */
async function forwardConnection(
  request: GatewayRequest,
  { port, data, error }: PortConnection,
  { nodes, pod }: SimulatedPod,
): Promise<void> {
  try {
    const node = await openSession(nodes, nodes.forward({ pod, port }, originOf(request)))
    void sendInput(node, data.input)
    // A program may ignore the end of its input, and would otherwise serve a client that has disconnected.
    void data.closed.then(() => node.close())
    try {
      for await (const part of node.parts) if (part.kind === 'stdout') await data.write(part.bytes)
    } finally {
      node.close()
    }
  } catch (failure) {
    const text = failure instanceof StatusError ? failure.message : 'the node has failed'
    await error.write(Buffer.from(`error forwarding port ${port} to pod ${pod.name}, uid : ${text}`))
  }
  data.end()
  error.end()
  await data.input.return?.()
}
