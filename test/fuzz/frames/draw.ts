import { printHeaders } from '../../../services/gateway/src/streams/spdy-headers.ts'
import { controlFrame, dataFrame, words } from '../../nodes/spdy-client.ts'
import { Chance } from '../chance.ts'

/** The opening of a tunnel, and invalid frames for the tunnel. */
export interface DrawnTunnel {
  readonly kind: TunnelKind
  readonly head: string
  /** The frames, each as the client writes it. */
  readonly frames: readonly Buffer[]
  /** True if the client writes all frames at once. */
  readonly isJoined: boolean
  /** The client cuts the connection with the last frame. */
  readonly isCut: boolean
  /** True if the client does not read what the server sends. */
  readonly isDeaf: boolean
}

const kinds = [
  'spdy exec',
  'spdy attach',
  'spdy ports',
  'channels exec',
  'channels attach',
  'channels ports',
  'tunneled ports',
  'log',
] as const
type TunnelKind = (typeof kinds)[number]

/** The number of kinds of tunnels. */
export const kindsCount = kinds.length

const pods = '/api/v1/namespaces/default/pods'
const commands = ['cat', 'sh', 'env', 'tar&command=xf&command=-', 'nosuch', 'sleep&command=infinity']
const subprotocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'channel.k8s.io', 'base64.channel.k8s.io', 'v4.base64.channel.k8s.io']
const framesMax = 120

/** The same seed and index draw the same tunnel. */
export function drawTunnel(seed: number, index: number): DrawnTunnel {
  const chance = new Chance(seed, index)
  const kind = chance.pick(kinds)
  const frames: Buffer[] = []
  const spdy = new SpdyFrames(chance, !kind.endsWith('ports'))
  const isSpdy = kind.startsWith('spdy')
  const count = 1 + chance.below(framesMax)
  while (frames.length < count) {
    if (isSpdy) frames.push(spdy.draw())
    else if (kind === 'tunneled ports' && !chance.oneIn(8)) frames.push(message(chance, spdy.draw()))
    else frames.push(webSocketFrame(chance))
  }
  return { kind, head: headOf(kind, chance), frames, isJoined: chance.oneIn(2), isCut: chance.oneIn(4), isDeaf: chance.oneIn(16) }
}

function headOf(kind: TunnelKind, chance: Chance): string {
  const [form, use = 'log'] = kind.split(' ')
  const protocol = use === 'ports' ? 'portforward.k8s.io' : 'v4.channel.k8s.io'
  const path = `${pods}/${pathOf(use, chance)}`
  const lines =
    form === 'spdy'
      ? [`POST ${path} HTTP/1.1`, 'Upgrade: SPDY/3.1', `X-Stream-Protocol-Version: ${protocol}`]
      : [
          `GET ${path} HTTP/1.1`,
          'Upgrade: websocket',
          'Sec-WebSocket-Version: 13',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
          `Sec-WebSocket-Protocol: ${subprotocolOf(kind, chance)}`,
        ]
  return [...lines, 'Host: server', 'Connection: Upgrade', '', ''].join('\r\n')
}

function pathOf(use: string, chance: Chance): string {
  if (use === 'log') return 'web/log?follow=true'
  if (use === 'ports') return 'web/portforward?ports=80'
  const streams = `stdin=true&stdout=true&${chance.oneIn(3) ? 'tty' : 'stderr'}=true`
  return use === 'exec' ? `web/exec?command=${chance.pick(commands)}&${streams}` : `${chance.pick(['web', 'shell'])}/attach?${streams}`
}

function subprotocolOf(kind: TunnelKind, chance: Chance): string {
  if (kind === 'log') return chance.pick(['binary.k8s.io', 'base64.binary.k8s.io'])
  if (kind === 'tunneled ports') return 'SPDY/3.1+portforward.k8s.io'
  return kind === 'channels ports' ? 'v4.channel.k8s.io' : chance.pick(subprotocols)
}

/** The frames of one SPDY connection: most are valid, and some are broken. */
class SpdyFrames {
  readonly #chance: Chance
  readonly #types: readonly string[]
  #nextId = 1
  #isFirst = true

  constructor(chance: Chance, isExec: boolean) {
    this.#chance = chance
    this.#types = isExec ? ['error', 'stdin', 'stdout', 'stderr', 'resize'] : ['error', 'data']
  }

  draw(): Buffer {
    const chance = this.#chance
    const kind = chance.below(40)
    if (kind < 12) return this.#open()
    const id = chance.oneIn(5) ? chance.below(0x7fff_ffff) : 1 + 2 * chance.below(6)
    if (kind < 24) return dataFrame(id, bytesOf(chance), chance.oneIn(6))
    if (kind < 27) return controlFrame(6, 0, words(chance.below(100)))
    if (kind < 29) return controlFrame(3, 0, words(id, 1 + chance.below(11)))
    if (kind < 31) return controlFrame(9, 0, words(chance.oneIn(3) ? 0 : id, chance.below(0x7fff_ffff)))
    if (kind < 33) return controlFrame(4, 0, words(1, 7, chance.below(100_000)))
    if (kind < 34) return controlFrame(7, 0, words(id, 0))
    if (kind < 36) return controlFrame(8, chance.below(4), Buffer.concat([words(id), this.#block({ late: 'x' })]))
    if (kind < 37) return controlFrame(chance.below(16), chance.below(256), Buffer.from(bytesOf(chance)), 3)
    if (kind < 38) return Buffer.from(bytesOf(chance))
    return mutated(this.#open(), chance)
  }

  #open(): Buffer {
    const chance = this.#chance
    const id = chance.oneIn(12) ? chance.below(50) : this.#nextId
    this.#nextId += 2
    const streamtype = this.#types[Math.floor(id / 2) % this.#types.length] ?? 'data'
    const requestid = String(Math.floor(id / 4))
    const block = this.#block({
      streamtype: chance.oneIn(9) ? 'what' : streamtype,
      port: String(chance.oneIn(9) ? chance.below(1e6) : 80),
      requestid,
    })
    return controlFrame(1, chance.below(4), Buffer.concat([words(id, 0), Buffer.from([0, 0]), block]))
  }

  #block(headers: Readonly<Record<string, string>>): Buffer {
    const isLong = this.#chance.oneIn(20)
    const block = printHeaders(
      new Map([...Object.entries(headers), ...(isLong ? [['long', 'x'.repeat(200_000)] as const] : [])]),
      this.#isFirst,
    )
    this.#isFirst = false
    return block
  }
}

function webSocketFrame(chance: Chance): Buffer {
  const kind = chance.below(20)
  if (kind < 10)
    return message(chance, Buffer.concat([Buffer.from([chance.pick([0, 0, 0, 1, 4, 255, chance.below(256)])]), bytesOf(chance)]))
  if (kind < 12) return message(chance, Buffer.from([255, chance.below(6)]))
  if (kind < 14) return message(chance, Buffer.from(`4{"Width":${chance.below(1e6)},"Height":2}`))
  if (kind < 16) return message(chance, Buffer.from(chance.oneIn(2) ? '' : 'ping'), 9)
  if (kind < 17) return message(chance, Buffer.from([3, 232]), 8)
  if (kind < 18) return mutated(message(chance, bytesOf(chance)), chance)
  return kind < 19 ? Buffer.from(bytesOf(chance)) : message(chance, bytesOf(chance), chance.below(16))
}

/** A frame of a WebSocket client (RFC 6455, section 5.2). */
function message(chance: Chance, payload: Uint8Array, opcode = chance.oneIn(6) ? 1 : 2): Buffer {
  const isFinal = !chance.oneIn(12)
  const first = (isFinal ? 0x80 : 0) | opcode
  const mask = Buffer.alloc(4, chance.below(256))
  const masked = Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)))
  const length =
    payload.length < 126 ? Buffer.from([0x80 | payload.length]) : Buffer.from([0x80 | 127, 0, 0, 0, 0, ...words(payload.length)])
  return Buffer.concat([Buffer.from([first]), length, mask, masked])
}

function mutated(bytes: Buffer, chance: Chance): Buffer {
  const copy = Buffer.from(bytes)
  for (let times = 1 + chance.below(4); times > 0; times -= 1) copy[chance.below(copy.length)] = chance.below(256)
  return chance.oneIn(3) ? copy.subarray(0, chance.below(copy.length)) : copy
}

/** Payload lengths: usually short, sometimes long. The same draw gives the same length. */
function bytesOf(chance: Chance): Buffer {
  const length = chance.oneIn(10) ? chance.below(70_000) : chance.below(200)
  const text = chance.oneIn(2) ? 'echo hello\n' : String.fromCharCode(chance.below(256), chance.below(256), 3, 13)
  return Buffer.alloc(length, text, 'latin1')
}
