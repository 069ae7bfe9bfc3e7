import { StatusError } from '@orch/core/meta'
import { requireType } from '@orch/core/schema'
import { type NodeSession, openSession, sendInput } from '@orch/platform'
import type { Upgrade } from '../exchange/exchange.ts'
import { type GatewayRequest, originOf, PlainRefusal, queryBoolean } from '../request/index.ts'
import { ChannelSocket } from '../streams/channels.ts'
import {
  type CommandResult,
  type CommandStreams,
  type CommandTunnel,
  channelCommandForms,
  channelTunnel,
  commandChannels,
  failedResult,
  SpdyCommandStreams,
  spdyCommandVersions,
} from '../streams/command-tunnel.ts'
import { SpdyConnection } from '../streams/spdy.ts'
import { chooseForm, negotiateProtocol, offeredChannels, openSpdySocket, openWebSocket } from '../streams/upgrade.ts'
import type { SubresourceVerb } from '../verbs/verb.ts'
import { requireContainer, requireObject } from './connect.ts'
import { admitConnection } from './connection-options.ts'
import { pathOfPod, printQuery } from './kubelet.ts'
import { enterByKubelet } from './kubelet-tunnel.ts'
import { permitCreation, refusalOfNode, requirePlace, runTunnel, type TunnelParts } from './tunnel.ts'

/** The first level that requires a protocol from a client over SPDY. */
const namesProtocolSince = 32

/** A tunnel to a command in a container: a new one (exec), or that of the container (attach). */
export const enterContainer: SubresourceVerb<TunnelParts> = async (request, target, parts) => {
  await admitConnection(request, target, parts)
  await permitCreation(request, parts)
  const pod = requireType('core/v1.Pod', await requireObject(request, target, parts))
  const container = requireContainer(pod, request)
  const place = await requirePlace(request, target, pod, parts)
  const { name } = target.subresource
  if (place.kind === 'kubelet') {
    const path = `/${name}/${pathOfPod(pod)}/${container}${commandQuery(request, name)}`
    return enterByKubelet(request, { ...place, path }, askedStreams(request), parts)
  }
  const { nodes, upgrade } = place
  const streams = streamsOf(request)
  const open = openingOf(request, upgrade, streams, parts)
  const asked = { pod: place.pod, container, ...streams }
  const command = [...request.query.all('command')]
  const context = originOf(request)
  const node = await openSession(nodes, name === 'exec' ? nodes.exec({ ...asked, command }, context) : nodes.attach(asked, context)).catch(
    (error: unknown) => {
      throw refusalOfNode(error)
    },
  )
  try {
    const tunnel = await open()
    if (tunnel === undefined) return upgrade.socket.destroySoon()
    await runTunnel(request, { upgrade, state: parts.state, close: () => tunnel.close() }, () => join(tunnel, node))
  } finally {
    node.close()
  }
}

/** The streams of a request according to a kubelet: a terminal has one output. */
function streamsOf(request: GatewayRequest): CommandStreams {
  const { stdin, stdout, stderr: asksForErrors, tty } = askedStreams(request)
  const stderr = asksForErrors && !tty
  if (!stdin && !stdout && !stderr) throw new PlainRefusal(400, 'you must specify at least 1 of stdin, stdout, stderr')
  return { stdin, stdout, stderr, tty }
}

function askedStreams({ query }: GatewayRequest): CommandStreams {
  const [stdin, stdout, stderr, tty] = (['stdin', 'stdout', 'stderr', 'tty'] as const).map((name) => queryBoolean(query, name))
  return { stdin: stdin === true, stdout: stdout === true, stderr: stderr === true, tty: tty === true }
}

function commandQuery(request: GatewayRequest, subresource: string): string {
  const { stdin, stdout, stderr, tty } = askedStreams(request)
  const command = subresource === 'exec' ? request.query.all('command') : []
  const flags = Object.entries({ error: stderr, input: stdin, output: stdout, tty }).flatMap(([name, isOn]) => (isOn ? [[name, '1']] : []))
  return printQuery([...command.map((word) => ['command', word]), ...flags])
}

type Opening = () => Promise<CommandTunnel | undefined>

/** Negotiates a protocol with the client; the result performs the upgrade. */
function openingOf(request: GatewayRequest, upgrade: Upgrade, streams: CommandStreams, { clock, level, names }: TunnelParts): Opening {
  const offered = offeredChannels(request)
  if (offered !== undefined) {
    const { subprotocol, form } = chooseForm(offered, channelCommandForms(names))
    return async () => {
      const webSocket = await openWebSocket(request, upgrade, subprotocol)
      return channelTunnel(new ChannelSocket(webSocket, form, commandChannels), form, streams)
    }
  }
  const versions = spdyCommandVersions(names)
  const protocol = negotiateProtocol(request, [...versions.keys()], level >= namesProtocolSince)
  return async () => {
    const collected = new SpdyCommandStreams(versions.get(protocol) ?? 1, streams)
    const socket = openSpdySocket(request, upgrade, protocol)
    return collected.tunnel(new SpdyConnection({ socket, head: upgrade.head, onStream: (stream) => collected.add(stream) }), clock)
  }
}

/** Forwards bytes in both directions until the command ends or the client disconnects. */
async function join(tunnel: CommandTunnel, node: NodeSession): Promise<void> {
  void tunnel.closed.then(() => node.close())
  if (tunnel.stdin !== undefined) void sendInput(node, tunnel.stdin)
  if (tunnel.resizes !== undefined) void sendSizes(node, tunnel.resizes)
  await tunnel.finish(await resultOf(tunnel, node))
}

async function resultOf(tunnel: CommandTunnel, node: NodeSession): Promise<CommandResult> {
  try {
    for await (const part of node.parts) {
      if (part.kind === 'exit') return exitResult(part.code)
      if (part.kind !== 'opened') await tunnel.write(part.kind, part.bytes)
    }
    return exitResult(0)
  } catch (error) {
    return failedResult(`error executing command in container: ${error instanceof StatusError ? error.message : 'the node has failed'}`)
  }
}

function exitResult(code: number): CommandResult {
  if (code === 0) return { metadata: {}, status: 'Success' }
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: command terminated with exit code ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  }
}

/** Maximum characters of an incomplete size; one has about thirty. */
const sizeTextMax = 1024

async function sendSizes({ input }: NodeSession, sizes: AsyncIterable<Uint8Array>): Promise<void> {
  let text = ''
  for await (const bytes of sizes) {
    text = (text + Buffer.from(bytes).toString('latin1')).slice(-sizeTextMax)
    const found = /^.*\{\s*"Width"\s*:\s*(\d{1,5})\s*,\s*"Height"\s*:\s*(\d{1,5})\s*\}/s.exec(text)
    if (found === null) continue
    text = text.slice(found[0].length)
    await input({ kind: 'resize', width: Number(found[1]), height: Number(found[2]) })
  }
}
