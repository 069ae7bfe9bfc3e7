import { connect as connectPlain, type LookupFunction, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { type Clock, type Guard, type KeyPair, lookupGlobal, type OutgoingCalls, onAbort, passCall } from '@orch/platform'
import { TlsContexts } from '@orch/platform/webhooks'
import { faultyAnswers } from '../aggregation/faulty-answers.ts'
import { type Answer, type Outgoing, overSocket, sendHttp1 } from '../aggregation/send-behind.ts'
import type { KubeletAddressing } from './kubelet-place.ts'

/** The settings of calls to kubelets and Pods. */
export interface KubeletSettings extends KubeletAddressing {
  /** PEM; without it any certificate of a kubelet is accepted. */
  readonly authorities?: string | undefined
  /** This server's client certificate for kubelets; undefined for none. */
  readonly pair?: (() => KeyPair | undefined) | undefined
  /** Maximum duration of connecting. */
  readonly timeoutMs: number
}

/** Settings of a gateway without any: those of the default flags. */
export const usualKubelets: KubeletSettings = {
  preferredAddressTypes: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
  port: 10_250,
  allowsLocal: false,
  timeoutMs: 5_000,
}

/** The target of a request: a kubelet, whose certificate is verified, or a Pod over HTTP or HTTPS. */
export interface KubeletTarget {
  readonly kind: 'kubelet' | 'http' | 'https'
  /** The node of a kubelet. */
  readonly node?: string
  readonly host: string
  readonly port: number
  /** True to accept any certificate of a kubelet. */
  readonly skipsVerification?: boolean
  /** Opens the connection; by default to the address. */
  readonly open?: () => Duplex
}

/** The dependencies of calls to kubelets. */
interface KubeletsParts {
  readonly clock: Pick<Clock, 'after'>
  readonly guard: Guard
  /** The faults of a test; undefined without faults. */
  readonly calls?: OutgoingCalls | undefined
}

/** Connections to kubelets and Pods. Each request uses a separate connection, so that no answer is mistaken for that of another request. */
export class Kubelets {
  readonly settings: KubeletSettings
  readonly #parts: KubeletsParts
  readonly #contexts = new TlsContexts()

  constructor(settings: KubeletSettings, parts: KubeletsParts) {
    this.settings = settings
    this.#parts = parts
  }

  /**
   * Sends a request. Rejects with the error of the connection, or that of a malformed answer. `headMs` is the timeout for the head of the answer;
   * unlimited by default.
   */
  send(outgoing: Outgoing, target: KubeletTarget, limit: SendLimit): Promise<Answer> {
    const send = () => this.#send(outgoing, target, limit)
    if (target.node === undefined) return send()
    return passCall(this.#parts.calls, {
      to: `kubelet/${target.node}/${taskOf(outgoing.path)}`,
      signal: limit.signal,
      send,
      ...faultyAnswers,
    })
  }

  async #send(outgoing: Outgoing, target: KubeletTarget, { signal, headMs }: SendLimit): Promise<Answer> {
    const socket = await this.#connect(target, signal)
    const sent = () => sendHttp1(outgoing, overSocket(socket, { signal }), this.#parts.guard)
    if (headMs === undefined) return sent()
    const late = () => socket.destroy(new Error('net/http: timeout awaiting response headers'))
    const timer = this.#parts.clock.after(headMs, late, { background: true })
    try {
      return await sent()
    } finally {
      timer.cancel()
    }
  }

  async #connect(target: KubeletTarget, signal: AbortSignal): Promise<Duplex> {
    const { kind, host, port, open } = target
    const opened = open?.()
    if (opened !== undefined && kind === 'http') return opened
    const socket = this.#open(target, opened)
    this.#parts.guard.watch(socket, 'backend', () => socket.destroy())
    return new Promise((resolve, reject) => {
      const timer = this.#parts.clock.after(
        this.settings.timeoutMs,
        () => socket.destroy(new Error(`dial tcp ${printAddress(host, port)}: i/o timeout`)),
        { background: true },
      )
      const end = () => socket.destroy(new Error('context canceled'))
      onAbort(signal, end)
      const settle = () => {
        timer.cancel()
        signal.removeEventListener('abort', end)
      }
      socket.once('error', reject).once('close', () => {
        settle()
        reject(new Error('socket hang up'))
      })
      socket.once(kind === 'http' ? 'connect' : 'secureConnect', () => {
        settle()
        resolve(socket.setNoDelay().setKeepAlive(true, keepAliveMs))
      })
    })
  }

  #open({ kind, host, port, skipsVerification = false }: KubeletTarget, opened: Duplex | undefined): Socket {
    const { authorities, pair, allowsLocal } = this.settings
    const lookup: { readonly lookup?: LookupFunction } = allowsLocal ? {} : { lookup: lookupGlobal }
    if (kind === 'http') return connectPlain({ host, port, ...lookup })
    const isKubelet = kind === 'kubelet'
    const shown = isKubelet ? pair?.() : undefined
    const trusted = isKubelet && !skipsVerification ? authorities : undefined
    const secureContext = this.#contexts.of({ authorities: trusted, clientCertificate: shown?.certificate, clientKey: shown?.key })
    const trust = { ALPNProtocols: ['http/1.1'], rejectUnauthorized: trusted !== undefined, secureContext }
    return connectTls({ host, port, ...lookup, ...(opened && { socket: opened }), ...trust })
  }
}

/** Timeouts of a request. */
interface SendLimit {
  readonly signal: AbortSignal
  readonly headMs?: number
}

const tasks: Readonly<Record<string, string>> = { containerLogs: 'logs', portForward: 'forward', exec: 'exec', attach: 'attach' }

/** The operation of a kubelet's path, named as for simulated nodes; for another path the path itself. */
function taskOf(path: string): string {
  const whole = path.replace(/\?.*/, '').replace(/^\//, '')
  const first = whole.split('/', 1)[0] ?? ''
  return Object.hasOwn(tasks, first) ? (tasks[first] ?? whole) : whole
}

/** Silence after which the system probes the peer of a connection. */
const keepAliveMs = 30_000

/** `host:port`, with brackets around an address of IPv6. */
export function printAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
