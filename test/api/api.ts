import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { type ClientConfiguration, parseConfiguration } from '@orch/client'
import { clusterMode, sharedBackends } from '@orch/testkit'
import { type StartOptions, start } from 'orch'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type WatchAnswer, WatchReader } from './watch-reader.ts'

/** An object as the test received it. Each test states the members that it expects. */
export interface Body {
  kind: string
  apiVersion: string
  metadata: Metadata
  items: Body[]
  [field: string]: unknown
}

interface Metadata {
  name: string
  namespace: string
  uid: string
  resourceVersion: string
  generation: number
  creationTimestamp: string
  deletionTimestamp: string
  finalizers: string[]
  labels: Record<string, string>
  continue: string
  [field: string]: unknown
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The text parsed as JSON; `{}` if the text is not JSON. */
  body: Body
}

export interface Sending {
  headers?: Record<string, string>
  /** The test sends text and bytes unchanged and any other value as JSON. */
  body?: unknown
  /** The server's base path does not precede the target. */
  isOutsidePrefix?: boolean
}

/** The sender of a request: an anonymous client or a client with a certificate. */
export interface Identity {
  cert?: string | undefined
  key?: string | undefined
}

/** A server that tests reach only over HTTP, so that tests run with services together and apart. */
export class Api {
  /** The URL of the first gateway. */
  readonly url: string
  readonly #urls: readonly URL[]
  #requests = 0
  readonly #configuration: ClientConfiguration
  readonly #agents: Agent[] = []
  readonly #admin: Agent
  readonly #stop: () => Promise<void>
  readonly #watches = new Set<WatchReader>()

  constructor(urls: readonly string[], configuration: ClientConfiguration, stop: () => Promise<void>) {
    this.url = urls[0] ?? ''
    this.#urls = urls.map((url) => new URL(url))
    this.#configuration = configuration
    this.#stop = stop
    this.#admin = this.#agentFor({ cert: configuration.clientCertificate, key: configuration.clientKey })
  }

  /** The administrator's credentials for new connections. */
  get credentials(): { ca: string | undefined; cert: string | undefined; key: string | undefined } {
    const { certificateAuthority, clientCertificate, clientKey } = this.#configuration
    return { ca: certificateAuthority, cert: clientCertificate, key: clientKey }
  }

  /** The administrator's connections. */
  get agent(): Agent {
    return this.#admin
  }

  /** Sends one request as the administrator, with the target unchanged. */
  send(method: string, target: string, sending: Sending = {}): Promise<Answer> {
    return this.#send(this.#admin, method, target, sending)
  }

  get(target: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('GET', target, { headers })
  }

  /** Sends the request to every gateway; returns one answer for each. */
  getFromEach(target: string): Promise<Answer[]> {
    return Promise.all(this.#urls.map(() => this.get(target)))
  }

  post(target: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('POST', target, { body, headers })
  }

  put(target: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('PUT', target, { body, headers })
  }

  /** Sends a patch: an array is a JSON patch, any other value is a merge patch. */
  patch(target: string, body: unknown): Promise<Answer> {
    const type = Array.isArray(body) ? 'application/json-patch+json' : 'application/merge-patch+json'
    return this.send('PATCH', target, { body, headers: { 'content-type': type } })
  }

  delete(target: string, body?: unknown): Promise<Answer> {
    return this.send('DELETE', target, body === undefined ? {} : { body })
  }

  /** The same server as another user sees it. */
  as(identity: Identity): (method: string, target: string, sending?: Sending) => Promise<Answer> {
    const agent = this.#agentFor(identity)
    return (method, target, sending = {}) => this.#send(agent, method, target, sending)
  }

  /** Opens a watch that ends with the test. */
  async watch(target: string, headers: Record<string, string> = {}): Promise<WatchAnswer> {
    const { pathname, hostname, port } = this.#nextGateway()
    const path = `${pathname === '/' ? '' : pathname}${target}`
    const reader = new WatchReader(httpsRequest({ method: 'GET', hostname, port, path, agent: this.#admin, headers }))
    this.#watches.add(reader)
    onTestFinished(() => reader.close())
    return reader.opened()
  }

  async stop(): Promise<void> {
    for (const watch of this.#watches) watch.close()
    for (const agent of this.#agents) agent.destroy()
    await this.#stop()
  }

  /** Returns the gateways in turn. */
  #nextGateway(): URL {
    const url = this.#urls[this.#requests % this.#urls.length]
    this.#requests += 1
    if (url === undefined) throw new Error('there is no gateway')
    return url
  }

  #agentFor({ cert, key }: Identity): Agent {
    const agent = new Agent({ keepAlive: true, ca: this.#configuration.certificateAuthority, cert, key })
    this.#agents.push(agent)
    return agent
  }

  #send(agent: Agent, method: string, target: string, { headers = {}, body, isOutsidePrefix = false }: Sending): Promise<Answer> {
    const { pathname, hostname, port } = this.#nextGateway()
    const path = `${pathname === '/' || isOutsidePrefix ? '' : pathname}${target}`
    const isReady = typeof body === 'string' || body instanceof Uint8Array
    const bytes = body === undefined ? undefined : Buffer.from(isReady ? body : JSON.stringify(body))
    const all = bytes === undefined ? headers : { 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers }
    return new Promise((resolve, reject) => {
      const request = httpsRequest({ method, hostname, port, path, agent, headers: all }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: bodyOf(text) })
        })
      })
      request.on('error', reject)
      request.end(bytes)
    })
  }
}

function bodyOf(text: string): Body {
  try {
    return JSON.parse(text) as Body
  } catch {
    return {} as Body
  }
}

/** A server for one test, which must stop it. */
export async function openApi(options: StartOptions = {}): Promise<Api> {
  const { urls, kubeconfig, stop } = clusterMode() === 'embedded' ? await openEmbedded(options) : await openDistributed(options)
  return new Api(urls, await parseConfiguration(kubeconfig), stop)
}

interface Opened {
  readonly urls: readonly string[]
  readonly kubeconfig: string
  readonly stop: () => Promise<void>
}

async function openEmbedded(options: StartOptions): Promise<Opened> {
  const { url, kubeconfig, stop } = await start({ freezesLinks: true, ...options })
  return { urls: [url], kubeconfig, stop }
}

/** Starts two processes of each service that can have several, over separate state. */
async function openDistributed(options: StartOptions): Promise<Opened> {
  const { startDistributed } = await import('../modes/start-distributed.ts')
  return startDistributed(options, { ...(await sharedBackends()), gateways: 2, storages: 2, watches: 2, admissions: 1 })
}

/** A server that stops when the test ends. */
export async function anApi(options: StartOptions = {}): Promise<Api> {
  const api = await openApi(options)
  onTestFinished(() => api.stop())
  return api
}

/** One server for all tests of a file. */
export function sharedApi(options: StartOptions = {}): { readonly api: Api } {
  let api: Api | undefined
  beforeAll(async () => {
    api = await openApi(options)
  })
  afterAll(() => api?.stop())
  return {
    get api() {
      if (api === undefined) throw new Error('the server is there only while tests run')
      return api
    },
  }
}

/** All numbers have the same length, so names sort in the order in which they were drawn. */
let namesGiven = 10_000

/** A name that no other test uses. */
export function aName(prefix = 'x'): string {
  return `${prefix}-${++namesGiven}`
}

/** Creates a namespace for one test; returns its name. */
export async function aNamespace(api: Api): Promise<string> {
  const name = aName('ns')
  const { status, text } = await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  if (status !== 201) throw new Error(`the namespace ${name} was not created: ${text}`)
  return name
}

export interface ConfigMapFields {
  name?: string
  data?: Record<string, string>
  [metadata: string]: unknown
}

/** A ConfigMap without a namespace, which the path gives; all members except data are metadata. */
export function configMap({ data, ...metadata }: ConfigMapFields = {}): Record<string, unknown> {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...(data === undefined ? {} : { data }) }
}

/** The path of the ConfigMaps of a namespace. */
export function configMapsIn(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps`
}

/** Creates ConfigMaps of these names in a new namespace; returns the path of the collection. */
export async function someConfigMaps(api: Api, ...names: readonly string[]): Promise<string> {
  const path = configMapsIn(await aNamespace(api))
  for (const name of names) await created(api, path, configMap({ name }))
  return path
}

/** Creates an object and returns it; the test fails unless the code is 201. */
export async function created(api: Api, path: string, object: unknown): Promise<Body> {
  const answer = await api.post(path, object)
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
  return answer.body
}

export function namesOfItems({ items }: Body): string[] {
  return items.map(({ metadata }) => metadata.name)
}

/** The whole body of a refusal. */
export function failure(code: number, reason: string, message: string, details?: unknown): Record<string, unknown> {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code }
  return details === undefined ? status : { ...status, details }
}

/** The pause between two requests. Without it, the requests would take the processor from the work that they wait for. */
const aMoment = () => new Promise((resolve) => setTimeout(resolve, 10))

/** The number of successive answers that shows that all gateways know: two from each, as the gateways take turns. */
const answersInARow = 4

/** Repeats the request until every gateway gives the wanted answer: gateways hear of a change at different times. */
export async function untilEverywhere(ask: () => Promise<Answer>, isWanted: (answer: Answer) => boolean): Promise<Answer> {
  for (let wanted = 0; ; ) {
    const answer = await ask()
    wanted = isWanted(answer) ? wanted + 1 : 0
    if (wanted === answersInARow) return answer
    if (wanted === 0) await aMoment()
  }
}

/** Repeats the request until the answer is the wanted one; the test's time limit is the bound. */
export async function until(ask: () => Promise<Answer>, isWanted: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (isWanted(answer)) return answer
    await aMoment()
  }
}
