import {
  type ApiObject,
  badRequest,
  durationToMs,
  findDurationProblem,
  internal,
  OutsideError,
  parseDuration,
  StatusError,
} from '@orch/core/meta'
import { domainGroup, isControlPath } from '@orch/core/names'
import { lastUsedLabel } from '@orch/core/tokens'
import { noTracer, sleep, type Tracer } from '@orch/platform'
import { forward } from './aggregation/forward.ts'
import type { SecretUse } from './authentication/authenticator.ts'
import { authenticate } from './authentication/authenticators.ts'
import { authorize } from './authorization/authorizer.ts'
import { dispatch } from './dispatch.ts'
import type { Exchange, HeaderFields } from './exchange/exchange.ts'
import { InProcessExchange } from './exchange/in-process.ts'
import { createLoopback, type Loopback } from './exchange/loopback.ts'
import { FaultRules, type FaultRulesOptions } from './faults/fault-rules.ts'
import type { GatewayOptions } from './gateway-options.ts'
import { enterPast } from './history/past.ts'
import { limits } from './limits.ts'
import { Listener, type ListenOptions } from './listener/listener.ts'
import { createParts, type GatewayParts, type OwnWork } from './parts.ts'
import type { Explanation } from './request/explanation.ts'
import { createNegotiator } from './request/negotiate.ts'
import { isOurFailure } from './request/our-failure.ts'
import { callContext, countsAsWork, GatewayRequest, type RequestOptions, upgradeOfTarget } from './request/request.ts'
import { CutOff, nothingAt, PlainRefusal, respondError } from './request/respond.ts'
import { beginTrace, endTrace, traceFieldsOf } from './request/trace.ts'
import { serveControl } from './routes/control.ts'
import { sendResponse } from './routes/document.ts'
import { routesOf } from './routes/routes.ts'
import { beginExplanation, permitExplanation } from './steps/explain.ts'
import { impersonate } from './steps/impersonate.ts'
import { boundInFlight } from './steps/in-flight.ts'
import { injectFault } from './steps/inject-fault.ts'
import type { Step } from './steps/step.ts'
import { takeTurn } from './steps/take-turn.ts'
import { type BootstrapWrite, ownUser, writeBootstrapObjects } from './write/bootstrap-objects.ts'
import { type LoadSettings, loadObjects, type PlacedObject } from './write/load-objects.ts'

/** The steps of a request before routing, in order. An inapplicable step is left out of the list. */
function chainOf(
  { auditor, flowControl, faults, order }: GatewayParts,
  { isImpersonating }: { readonly isImpersonating: boolean },
): readonly Step<GatewayParts>[] {
  return [
    deadline,
    beginExplanation,
    authenticate,
    ...(auditor === undefined ? [] : [audit]),
    ...(isImpersonating ? [impersonate] : []),
    permitExplanation,
    ...(order === undefined ? [] : [takeTurn]),
    ...(faults === undefined || faults.isEmpty ? [] : [injectFault]),
    flowControl?.takeSeat ?? boundInFlight,
    authorize,
  ]
}

/** Serves the requests of one gateway. */
interface Server {
  readonly parts: GatewayParts
  chain: readonly Step<GatewayParts>[]
  /** For requests with a header for impersonation. */
  chainOfImpersonator: readonly Step<GatewayParts>[]
  readonly documents: ReturnType<typeof routesOf>
}

/** The gateway: the HTTP server that authenticates, decodes and answers every request. */
export interface Gateway {
  /** Answers one request. Never throws. */
  handle(exchange: Exchange): void
  /** Loads the objects for authorization; before that only administrators are allowed. Called when the bootstrap roles exist. */
  loadAuthorization(): Promise<void>
  /** Serves the stored definitions. Must be called before requests are accepted. */
  loadDefinitions(): Promise<void>
  /** Opens a TLS port; returns its number. */
  listen(options: ListenOptions): Promise<number>
  /** Creates objects of the server in collections that are empty at the first start; see `writeBootstrapObjects`. */
  writeBootstrapObjects(objects: readonly BootstrapWrite[]): Promise<void>
  /** Stores objects of another server with their uids and status; see `loadObjects`. */
  loadObjects<Place>(objects: AsyncIterable<PlacedObject<Place>>, settings: LoadSettings<Place>): Promise<void>
  /** An in-process transport for a part of this process. */
  loopback(user: { readonly name: string; readonly groups: readonly string[] }): Loopback
  /**
   * Stops: readyz fails for `delayMs`, then no new connection is accepted and watches end over `graceMs`. Requests under way are answered if
   * `finishesRequests` is true, and else cut; by default a grace implies it.
   */
  close(options?: { readonly delayMs?: number; readonly graceMs?: number; readonly finishesRequests?: boolean | undefined }): Promise<void>
}

/** A gateway over the given services. `close` closes everything that it opens. */
export function createGateway(options: GatewayOptions): Gateway {
  // Parts handle requests, and the admission part also sends one.
  const parts: GatewayParts = createParts(options, {
    provideNamespace: (name) => provideNamespace(createLoopback(handle, ownUser), name, parts.pathPrefix),
    send: (request) => createLoopback(handle, ownUser).send(request),
    writeFirst: (objects) => writeBootstrapObjects(objects.map(asApiService), parts),
    conclude: (request) => conclude(request, parts),
    console: consoleWork(() => ({ ...server, guard: parts.guard })),
  })
  const asApiService = (object: ApiObject): BootstrapWrite => ({
    resource: { group: domainGroup(parts.names, 'apiregistration'), version: 'v1', plural: 'apiservices' },
    object,
  })
  const { state, clock, log } = parts
  const faultRules = faultRulesOf(options, parts, (request) => createLoopback(handle, ownUser).send(request))
  const unfollow = clock.work?.follow('bytes for watchers', () => parts.unread.total > 0)
  const server = createHandler(parts, options.tracer)
  const { handle } = server
  options.authentication?.secretUses?.add((use) => {
    const note = () => noteSecretUse(createLoopback(handle, ownUser), use, parts)
    parts.guard.run('request', () => {}, note)
  })
  const listeners: Listener[] = []
  parts.liveCatalogue.onChange((_, changed, revision) => {
    const groups = new Set(changed)
    for (const watch of state.watches) watch.compare(groups, revision)
  })
  return {
    handle,
    loadDefinitions: async () => {
      await parts.customResources.load()
      await parts.aggregation.load()
    },
    async loadAuthorization() {
      await options.authorization?.load()
      await faultRules?.begin()
    },
    async listen(listenOptions) {
      const upgradeOf = (target: string) => (isRemotePath(target, parts) ? 'tunnel' : upgradeOfTarget(target, parts.pathPrefix))
      const listener = await Listener.open(
        { ...listenOptions, upgradeOf, clock, guard: parts.guard, onHandshakeError: parts.metrics.countHandshakeError },
        handle,
        parts.draws.pause,
      )
      listeners.push(listener)
      state.address = `${listenOptions.publicHost ?? listenOptions.host}:${listener.port}`
      return listener.port
    },
    writeBootstrapObjects: (objects) => writeBootstrapObjects(objects, parts),
    loadObjects: (objects, settings) => loadObjects(objects, settings, parts),
    loopback: (user) => createLoopback(handle, user),
    async close({ delayMs = 0, graceMs = 0, finishesRequests = graceMs > 0 } = {}) {
      if (!state.isClosing) {
        state.isClosing = true
        if (delayMs > 0 && listeners.length > 0) await sleep(clock, delayMs)
      }
      if (options.serving?.sendsRetryAfter === true) {
        state.isRefusing = true
        for (const listener of listeners) listener.announceEnd()
        await endWatches(parts, graceMs)
        await requestsDone(parts)
      }
      for (const listener of listeners) listener.drain()
      await endWatches(parts, graceMs)
      unfollow?.()
      if (finishesRequests) {
        await requestsDone(parts)
        await bytesTaken(parts, listeners)
      }
      await Promise.all(listeners.map((listener) => listener.close()))
      await parts.lifecycle.stop()
      log.debug({}, 'the gateway has stopped')
    },
  }
}

/** The faults stored as objects; undefined if the server has none. */
function faultRulesOf(
  { followsFaultRules = false, chance }: GatewayOptions,
  { faults, storage, names, clock, log, pathPrefix, lifecycle }: GatewayParts,
  send: FaultRulesOptions['send'],
): FaultRules | undefined {
  if (!followsFaultRules || faults === undefined) return undefined
  return lifecycle.opened('fault rules', new FaultRules({ storage, names, clock, log, random: chance.fraction, faults, pathPrefix, send }))
}

/** True if another server serves a path, so that an upgrade is possible. */
function isRemotePath(target: string, { remotes, aggregation, pathPrefix }: GatewayParts): boolean {
  if (remotes.size === 0 || !target.startsWith(`${pathPrefix}/`)) return false
  return aggregation.apiServices.remoteAt(target.slice(pathPrefix.length).replace(/\?.*/, '')) !== undefined
}

async function provideNamespace({ send }: Loopback, name: string, pathPrefix: string): Promise<void> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const headers = { 'content-type': 'application/json' }
  const { status } = await send({ method: 'POST', path: `${pathPrefix}/api/v1/namespaces`, headers, body })
  if (status !== 201 && status !== 409) throw internal(`the namespace ${name} could not be made: ${status}`)
}

/** Notes on a Secret the day on which its token was used. Notes are best effort: a later use of that day notes it again. */
async function noteSecretUse({ send }: Loopback, { namespace, name, uid, day }: SecretUse, parts: GatewayParts): Promise<void> {
  const body = JSON.stringify({ metadata: { uid, labels: { [lastUsedLabel(parts.names)]: day } } })
  const path = `${parts.pathPrefix}/api/v1/namespaces/${namespace}/secrets/${name}`
  const { status } = await send({ method: 'PATCH', path, headers: { 'content-type': 'application/merge-patch+json' }, body })
  if (status !== 200) parts.log.debug({ namespace, name, status }, 'the use of the token in a Secret could not be noted')
}

/** The ways into a gateway. */
type Handlers = ReturnType<typeof createHandler>

/** The gateway for the console, which exists when the first request arrives. */
function consoleWork(gateway: () => Handlers & Pick<GatewayParts, 'guard'>): OwnWork['console'] {
  return {
    serve: (exchange) => gateway().handleOfConsole(exchange),
    open(request, peer) {
      const exchange = new InProcessExchange(request, peer)
      gateway().handle(exchange)
      return exchange
    },
    async openPlainPort(host, serve) {
      const { openPlainPort } = await import('./listener/plain-port.ts')
      return openPlainPort({ host, guard: gateway().guard, serve })
    },
  }
}

function createHandler(parts: GatewayParts, tracer: Tracer = noTracer) {
  const { clock, requestTimeoutMs, pathPrefix } = parts
  const requestOptions: RequestOptions = {
    requestTimeoutMs,
    pathPrefix,
    negotiator: createNegotiator(parts.names, { hasCbor: parts.catalogue.isGateOn('CBORServingAndStorage') }),
    draws: parts.draws,
    texts: parts.texts,
    isAudited: parts.auditor !== undefined,
    keepsBodies: parts.requestLog?.hasDetails === true,
  }
  const server: Server = {
    parts,
    chain: chainOf(parts, { isImpersonating: false }),
    chainOfImpersonator: chainOf(parts, { isImpersonating: true }),
    documents: routesOf(parts.names),
  }
  parts.faults?.onChange(() => {
    server.chain = chainOf(parts, { isImpersonating: false })
    server.chainOfImpersonator = chainOf(parts, { isImpersonating: true })
  })
  const { state, browserHeaders, requestTurns, guard, console } = parts
  const begin = (exchange: Exchange, options: RequestOptions, headers?: HeaderFields) => {
    let request: GatewayRequest
    try {
      request = new GatewayRequest(exchange, clock.monotonic(), options)
    } catch (error) {
      refuseUnreadable(exchange, error as StatusError)
      return
    }
    request.browserHeaders = headers
    beginTrace(request, tracer)
    if (countsAsWork(request)) clock.work?.begin('request')
    // Work that outlives its request, such as a connection to a webhook, does not hold the request in memory.
    const held = new WeakRef(exchange)
    const end = () => held.deref()?.destroy()
    requestTurns.begin(() => guard.runExchange('request', end, () => run(request, server)))
  }
  const optionsOfConsole = { ...requestOptions, pathPrefix: `${pathPrefix}/console/api` }
  return {
    /** Answers one request. */
    handle(exchange: Exchange) {
      if (exchange.problem !== undefined) return refuseUnreadable(exchange, badRequest(exchange.problem))
      // Pages of other origins are never answered there, with any settings.
      const isOfConsole = console?.isAt(exchange.target) === true
      const browser = isOfConsole ? undefined : browserHeaders?.(exchange)
      if (browser?.isPreflight) return exchange.send(204, browser.headers, '')
      if (state.isRefusing && !isServedAtTheEnd(exchange, pathPrefix)) return refuseAtTheEnd(exchange, browser?.headers)
      if (!isOfConsole) return begin(exchange, requestOptions, browser?.headers)
      guard.run(
        'request',
        () => exchange.destroy(),
        () => console?.answer(exchange),
      )
    },
    /** Answers a request of a console session to the API below the path of the console. */
    handleOfConsole: (exchange: Exchange) => begin(exchange, optionsOfConsole),
  }
}

/** Runs the steps, then the resource or the document. Errors become answers in one place. */
async function run(request: GatewayRequest, server: Server): Promise<void> {
  const { documents } = server
  let { parts } = server
  try {
    for (const step of request.exchange.headerNames().some(asksToImpersonate) ? server.chainOfImpersonator : server.chain) {
      const done = step(request, parts)
      if (done !== undefined) await done
    }
    if (request.moment !== undefined) {
      await enterPast(request, request.moment, parts)
      parts = await partsOfPast(request, parts)
    }
    const remote = parts.remotes.size === 0 ? undefined : parts.aggregation.apiServices.remoteAt(request.path)
    if (remote !== undefined && request.pastRevision > 0) throw nothingAt(request.path, parts)
    if (remote !== undefined) return await forward(request, remote, parts)
    if (request.info.kind === 'resource') return await dispatch(request, request.info, parts)
    if (parts.control !== undefined && isControlPath(request.path) && (await serveControl(request, parts.control, parts))) return
    await sendResponse(request, await documents({ request, parts }), parts)
  } catch (error) {
    if (!request.isKnown) parts.auditor?.refuse(request)
    // Clients show no error of discovery, but its warnings.
    if (request.moment !== undefined && request.info.kind === 'path' && error instanceof StatusError) request.warn(error.message)
    fail(request, parts, error)
  } finally {
    request.leave()
    if (!request.goesOn) conclude(request, parts)
    if (countsAsWork(request)) parts.clock.work?.end('request')
  }
}

/** The parts of a request to a state of the past, with the kinds that were served then. */
async function partsOfPast(request: GatewayRequest, parts: GatewayParts): Promise<GatewayParts> {
  const { openApi, pastKinds } = parts
  const kinds = await pastKinds.at(request.pastRevision, callContext(request, parts))
  return { ...parts, ...kinds, openApi: { now: () => openApi.of(kinds.catalogue), of: openApi.of } }
}

/** Counts, logs and traces a request that has been answered. */
function conclude(request: GatewayRequest, parts: GatewayParts): void {
  request.audit?.responseComplete()
  const durationMs = parts.clock.monotonic() - request.startedMs
  parts.metrics.count(request, durationMs)
  if (request.info.kind === 'resource' || !isControlPath(request.path)) parts.requestLog?.note(request, durationMs)
  // An unauthenticated request must not displace requests of users.
  if (request.explanation !== undefined && request.isKnown) keepExplanation(request, request.explanation, durationMs, parts)
  endTrace(request)
  parts.log.debug(
    {
      method: request.method,
      path: request.path,
      code: request.code,
      durationMs,
      auditId: request.auditId,
      user: request.user.name,
      ...traceFieldsOf(request),
    },
    'request',
  )
}

function keepExplanation(request: GatewayRequest, explanation: Explanation, durationMs: number, { explanations }: GatewayParts): void {
  const { auditId, method, path, code, info } = request
  explanations?.keep({ auditId, explanation, method, path, code, durationMs, info })
}

function asksToImpersonate(header: string): boolean {
  return header.startsWith('impersonate-')
}

function fail(request: GatewayRequest, parts: GatewayParts, error: unknown): void {
  if (error instanceof CutOff) return
  const hasBegun = request.code !== 0
  if (hasBegun) parts.metrics.countAbort(request)
  try {
    if (isOurFailure(error)) {
      parts.log.error({ err: error, path: request.path, auditId: request.auditId, ...traceFieldsOf(request) }, 'a request has failed')
    }
    if (error instanceof OutsideError) noteOutside(request, error, parts)
    if (error instanceof StatusError) request.explanation?.refused(error.status)
    respondError(request, error, parts.names)
    if (error instanceof PlainRefusal && error.code === 429) parts.metrics.countTermination(request)
  } catch (second) {
    parts.log.error({ err: second, auditId: request.auditId }, 'an answer could not be sent')
    if (!hasBegun) parts.metrics.countAbort(request)
    request.exchange.destroy()
  }
}

/** One line without the stack, which would only show the code before this point. */
function noteOutside({ path, auditId }: GatewayRequest, { message, source }: OutsideError, { log, rareLines }: GatewayParts): void {
  const write = (leftOut: number) => {
    log.info({ path, auditId, problem: message, ...(leftOut === 0 ? {} : { leftOut }) }, 'a request needs what this server does not reach')
  }
  if (source === undefined) write(0)
  else rareLines.note(source, write)
}

/** An invalid request line has no path, so that no step applies. */
function refuseUnreadable(exchange: Exchange, { status }: StatusError): void {
  exchange.send(
    status?.code ?? 400,
    { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
    `${JSON.stringify(status ?? {})}\n`,
  )
}

/** Paths that are answered until the port is closed: probes, and pages about the server. */
const pathsServedAtTheEnd = ['/healthz', '/livez', '/readyz', '/metrics', '/debug/']

function isServedAtTheEnd({ peer, target }: Exchange, pathPrefix: string): boolean {
  return peer.kind === 'internal' || pathsServedAtTheEnd.some((path) => target.startsWith(`${pathPrefix}${path}`))
}

function refuseAtTheEnd(exchange: Exchange, browserHeaders: HeaderFields = {}): void {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
  const retryAfter = String(limits.retryAfterAtEndSeconds)
  exchange.send(429, { ...browserHeaders, ...headers, 'retry-after': retryAfter }, 'The server is shutting down, please try again later.\n')
}

/** Ends watches one after the other, so that their clients do not all reconnect at once. */
async function endWatches({ state, clock }: GatewayParts, spreadMs: number): Promise<void> {
  const watches = [...state.watches]
  const pauseMs = watches.length === 0 ? 0 : Math.min(spreadMs / watches.length, limits.watchEndPauseMs)
  let owedMs = 0
  for (const watch of watches) {
    watch.finish()
    owedMs += pauseMs
    if (owedMs < 10) continue
    await sleep(clock, owedMs)
    owedMs = 0
  }
}

/** Waits until the last written bytes have reached the clients. */
async function bytesTaken({ clock }: GatewayParts, listeners: readonly Listener[]): Promise<void> {
  const endsMs = clock.monotonic() + limits.lastBytesMs
  while (clock.monotonic() < endsMs && listeners.some(({ connections }) => connections > 0)) {
    await sleep(clock, 5)
  }
}

/** Requests that are under way are answered; none is waited for longer than a request may take. */
async function requestsDone({ state, requestTurns, clock, requestTimeoutMs }: GatewayParts): Promise<void> {
  const untilMs = clock.monotonic() + requestTimeoutMs
  const open = () => state.readsInFlight + state.writesInFlight + requestTurns.waiting
  while (open() > 0 && clock.monotonic() < untilMs) await sleep(clock, 5)
}

/** `?timeout=` may shorten the timeout of a request, but not extend it. */
function deadline(request: GatewayRequest): void {
  if (request.query.isEmpty || request.isLongRunning) return
  const text = request.query.get('timeout')
  if (text === undefined || text === '') return
  const duration = parseDuration(text)
  if (duration === undefined) throw badRequest(`invalid timeout specified in the request URL - ${findDurationProblem(text)}`)
  const timeoutMs = durationToMs(duration)
  if (timeoutMs > 0) request.deadlineMs = Math.min(request.deadlineMs, request.startedMs + timeoutMs)
}

/** Records that the request was received, with its source. Nothing is recorded without a policy. */
function audit(request: GatewayRequest, { auditor }: GatewayParts): void | Promise<void> {
  return auditor?.begin(request)
}
