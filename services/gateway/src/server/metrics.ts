import type { Catalogue, Resource } from '@orch/core/catalogue'
import { featureGates } from '@orch/core/feature-gates'
import { lazily } from '@orch/core/memo'
import type { Names } from '@orch/core/names'
import {
  type Clock,
  type CountedNumber,
  type CountedSeries,
  counter,
  createTimedHistogram,
  declareMetrics,
  gauge,
  histogram,
  hotCounter,
  hotHistogram,
  type Metrics,
} from '@orch/platform'
import type { GatewayRequest, LoadMeter } from '../request/request.ts'
import type { GatewayState } from './state.ts'
import type { VersionInfo } from './version-info.ts'

/** A certificate with a requested lifetime. */
export interface IssuedCertificate {
  readonly signer: string
  /** True if it has about the requested lifetime. */
  readonly isHonored: boolean
}

/** The request counters of the gateway, under the names of kube-apiserver. */
export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>

const longRunningLabels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const
const requestLabels = [...longRunningLabels, 'dry_run', 'code'] as const

const sliBuckets = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]

const table = {
  apiserver_request_total: hotCounter('[STABLE] Requests that were answered, by verb, resource and code.', requestLabels),
  apiserver_request_duration_seconds: hotHistogram(
    '[STABLE] Time from a request to its answer, watches aside.',
    [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60],
    [...longRunningLabels, 'dry_run'],
  ),
  apiserver_request_sli_duration_seconds: hotHistogram(
    '[ALPHA] Time from a request to its answer without that of waiting for its turn and for webhooks.',
    sliBuckets,
    longRunningLabels,
  ),
  apiserver_request_slo_duration_seconds: hotHistogram(
    '[ALPHA] Time from a request to its answer without that of waiting for its turn and for webhooks, under its older name.',
    sliBuckets,
    longRunningLabels,
  ),
  apiserver_response_sizes: hotHistogram('[STABLE] Bytes of answers.', [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9], longRunningLabels),
  apiserver_selfrequest_total: hotCounter('[ALPHA] Requests of parts of this process.', ['verb', 'resource', 'subresource']),
  apiserver_request_terminations_total: counter('[ALPHA] Requests that were refused because more is asked than can be done.', [
    ...longRunningLabels,
    'code',
  ]),
  apiserver_client_certificate_expiration_seconds: hotHistogram(
    '[ALPHA] Time until the client certificates of requests expire.',
    [0, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 345600, 604800, 2592000, 7776000, 15552000, 31104000],
  ),
  field_validation_request_duration_seconds: hotHistogram(
    '[ALPHA] Time from a write to its answer, by what is done about unknown fields.',
    [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60],
    ['field_validation'],
  ),
  apiserver_tls_handshake_errors_total: counter('[ALPHA] Handshakes of TLS that have failed.'),
  apiserver_terminated_watchers_total: counter('[ALPHA] Watches that were ended because their clients took nothing.', ['resource']),
  apiserver_cache_list_total: counter('[ALPHA] Lists that were served from memory.', ['resource_prefix', 'index']),
  apiserver_cache_list_returned_objects_total: counter('[ALPHA] Objects that lists served from memory have returned.', ['resource_prefix']),
  apiserver_request_aborts_total: counter('[ALPHA] Requests whose answers were broken off.', [
    'verb',
    'group',
    'version',
    'resource',
    'subresource',
    'scope',
  ]),
  apiserver_watch_list_duration_seconds: histogram(
    '[ALPHA] Time until a watch has sent what was there when it began.',
    [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60],
    ['group', 'version', 'resource', 'scope'],
  ),
  apiserver_watch_events_sizes: hotHistogram(
    '[ALPHA] Bytes of events that were sent to watches; those that were sent together count with their mean.',
    Array.from({ length: 8 }, (_, index) => 1024 * 2 ** index),
    ['group', 'version', 'kind'],
  ),
  apiserver_watch_events_total: counter('[ALPHA] Events that were sent to watches.', ['group', 'version', 'kind']),
  apiserver_certificates_registry_csr_requested_duration_total: counter(
    '[ALPHA] Certificates that were issued for requests with a lifetime, by signer.',
    ['signerName'],
  ),
  apiserver_certificates_registry_csr_honored_duration_total: counter(
    '[ALPHA] Certificates that live about as long as was asked, by signer.',
    ['signerName'],
  ),
  apiserver_cel_compilation_duration_seconds: hotHistogram(
    '[ALPHA] Time of compiling the rules of one place of a schema.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ),
  apiserver_cel_evaluation_duration_seconds: hotHistogram(
    '[ALPHA] Time of evaluating the rules of one place of a schema on a value.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ),
  // From 10 µs, growing by a factor of four.
  apiextensions_apiserver_validation_ratcheting_seconds: histogram(
    '[ALPHA] Time in which a custom object is compared with the one that it replaces, so that it may keep mistakes.',
    Array.from({ length: 10 }, (_, index) => 0.000_01 * 4 ** index),
  ),
  apiserver_current_inflight_requests: gauge('[STABLE] Requests that are being worked on.', ['request_kind']),
  apiserver_longrunning_requests: gauge('[STABLE] Watches that are open.', longRunningLabels),
  apiserver_longrunning_gauge: gauge('[ALPHA] Watches that are open, as apiserver_longrunning_requests.', ['verb'], {
    deprecatedFrom: '1.23',
  }),
  apiserver_registered_watchers: gauge('[ALPHA] Watches that are open, as apiserver_longrunning_requests.', [], { deprecatedFrom: '1.22' }),
}

/** `…_build_info`: the version as labels of a 1. */
export function addBuildInfo(metrics: Metrics, { serverServiceName }: Names, version: VersionInfo): void {
  const { major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform } = version
  const labels = {
    major,
    minor,
    git_version: gitVersion,
    git_commit: gitCommit,
    git_tree_state: gitTreeState,
    build_date: buildDate,
    go_version: goVersion,
    compiler,
    platform,
  }
  const names = Object.keys(labels) as (keyof typeof labels)[]
  const help = '[ALPHA] 1, with the version of the server in its labels.'
  metrics.gauge({
    name: `${serverServiceName}_build_info`,
    help,
    together: 'largest',
    labels: names,
    collect: (gauge) => gauge.set(labels, 1),
  })
}

/** `…_feature_enabled`: each feature gate, with 1 if it is on. */
export function addFeatureGates(metrics: Metrics, { names: { serverServiceName }, isGateOn, level }: Catalogue): void {
  const help = '[BETA] 1 where a feature gate is on.'
  const stages = { alpha: 'ALPHA', beta: 'BETA', ga: '', deprecated: 'DEPRECATED' }
  const collect = (gauge: { set(labels: { name: string; stage: string }, value: number): void }) => {
    for (const { name, stage } of featureGates(level)) gauge.set({ name, stage: stages[stage] }, isGateOn(name) ? 1 : 0)
  }
  metrics.gauge({ name: `${serverServiceName}_feature_enabled`, help, labels: ['name', 'stage'], collect })
}

/** The limits of executing reads and writes; 0 for none. */
interface LoadBounds {
  readonly readsMax: number
  readonly writesMax: number
}

const readVersusWrite = {
  name: 'apiserver_flowcontrol_read_vs_write_current_requests',
  help: '[ALPHA] At each nanosecond, reads and writes that are worked on or wait, as a part of how many of the kind are worked on at most.',
  buckets: [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
}

/** Measures reads and writes over time. With a limit of 0 the numbers themselves are measured. */
function createLoadMeter(metrics: Metrics, { readsMax, writesMax }: LoadBounds, clock: Pick<Clock, 'monotonic'>): LoadMeter {
  const histogram = createTimedHistogram<'phase' | 'request_kind'>(metrics, readVersusWrite, () => clock.monotonic())
  const ofKind = (request_kind: string, max: number) => {
    const series = (phase: string) => histogram.series({ phase, request_kind })
    return { executing: series('executing'), waiting: series('waiting'), waitingCount: 0, max: Math.max(1, max) }
  }
  const [reads, writes] = [ofKind('readOnly', readsMax), ofKind('mutating', writesMax)]
  return {
    worked(isWrite, count) {
      const { executing, max } = isWrite ? writes : reads
      executing.set(count / max)
    },
    waits(isWrite, change) {
      const kind = isWrite ? writes : reads
      kind.waitingCount += change
      kind.waiting.set(kind.waitingCount / kind.max)
    },
  }
}

/** The server's facts in request counts. */
interface CountedServer {
  readonly state: GatewayState
  readonly bounds: LoadBounds
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
}

/** Counts requests and open watches of a gateway. */
export function createGatewayMetrics(metrics: Metrics, { state, bounds, clock }: CountedServer) {
  state.loadMeter = createLoadMeter(metrics, bounds, clock)
  const declared = declareMetrics(metrics, table, {
    apiserver_current_inflight_requests: (gauge) => {
      gauge.set({ request_kind: 'readOnly' }, state.readsInFlight)
      gauge.set({ request_kind: 'mutating' }, state.writesInFlight)
    },
    apiserver_longrunning_requests: (gauge) => {
      gauge.reset()
      for (const { labels, count } of openWatches(state)) gauge.set(labels, count)
    },
    apiserver_longrunning_gauge: (gauge) => gauge.set({ verb: 'WATCH' }, state.watches.size),
    apiserver_registered_watchers: (gauge) => gauge.set(state.watches.size),
  })
  const { apiserver_watch_events_total: events } = declared
  const compilations = declared.apiserver_cel_compilation_duration_seconds.series({})
  const evaluations = declared.apiserver_cel_evaluation_duration_seconds.series({})
  const expirations = declared.apiserver_client_certificate_expiration_seconds.series({})
  const countValidation = createValidationCounter(declared)
  const eventSeries = new Map<Resource, { readonly counter: { inc(value: number): void }; readonly size: CountedSeries }>()
  const seriesOf = createRequestSeries(declared)
  return {
    /** Counts an answered request. */
    count(request: GatewayRequest, durationMs: number) {
      const { request: counter, duration, size, own, ownBefore, self } = seriesOf(request)
      const { peer } = request.exchange
      counter.add(1)
      if (peer.kind === 'internal') self().add(1)
      else if (peer.kind === 'certificate') expirations.observe((peer.expiresMs - clock.now()) / 1000)
      if (request.info.kind === 'resource' && request.info.verb === 'watch') return
      duration.observe(durationMs / 1000)
      const ownSeconds = Math.max(0, durationMs - request.waitedMs) / 1000
      own.observe(ownSeconds)
      ownBefore.observe(ownSeconds)
      size.observe(request.sentBytes)
      if (request.info.kind === 'resource' && validatingVerbs.has(request.info.verb)) countValidation(request, durationMs / 1000)
    },
    /** Counts a request that was refused for lack of capacity. */
    countTermination(request: GatewayRequest) {
      const { dry_run: _dryRun, ...labels } = labelsOf(request)
      declared.apiserver_request_terminations_total.inc(labels)
    },
    /** Counts a watch that was ended because its client did not read. */
    countTerminatedWatch: ({ stored }: Resource) => declared.apiserver_terminated_watchers_total.inc({ resource: stored.prefix }),
    /** Counts objects that a list has returned. */
    countListed: ({ stored }: Resource, count: number) =>
      declared.apiserver_cache_list_returned_objects_total.inc({ resource_prefix: `/${stored.prefix}` }, count),
    /** Counts the time until a watch has sent its initial state. */
    countInitialEvents(request: GatewayRequest, durationMs: number) {
      const { group, version, resource, scope } = labelsOf(request)
      declared.apiserver_watch_list_duration_seconds.observe({ group, version, resource, scope }, durationMs / 1000)
    },
    /** Counts a request that failed after its answer had begun, or could not be answered. */
    countAbort(request: GatewayRequest) {
      const { verb, group, version, resource, subresource, scope } = labelsOf(request)
      declared.apiserver_request_aborts_total.inc({ verb, group, version, resource, subresource, scope })
    },
    /** Counts a list, which is served from memory. */
    countList: ({ stored }: Resource) => declared.apiserver_cache_list_total.inc({ resource_prefix: `/${stored.prefix}`, index: '' }),
    countHandshakeError: () => declared.apiserver_tls_handshake_errors_total.inc(),
    /** Counts events sent to a watch of the resource, with their bytes. */
    countEvents(resource: Resource, count: number, bytes: number) {
      let series = eventSeries.get(resource)
      if (series === undefined) {
        const { group, version, kind } = resource
        const labels = { group, version, kind }
        series = { counter: events.labels(labels), size: declared.apiserver_watch_events_sizes.series(labels) }
        eventSeries.set(resource, series)
      }
      series.counter.inc(count)
      for (let index = 0; index < count; index++) series.size.observe(bytes / count)
    },
    rules: {
      monotonic: () => clock.monotonic(),
      compiled: (durationMs: number) => compilations.observe(durationMs / 1000),
      evaluated: (durationMs: number) => evaluations.observe(durationMs / 1000),
    },
    countIssued({ signer: signerName, isHonored }: IssuedCertificate) {
      declared.apiserver_certificates_registry_csr_requested_duration_total.inc({ signerName })
      if (isHonored) declared.apiserver_certificates_registry_csr_honored_duration_total.inc({ signerName })
    },
    /** Measures the comparison in an update of an object that may keep invalid unchanged parts. */
    countRatcheting: (durationMs: number) => declared.apiextensions_apiserver_validation_ratcheting_seconds.observe(durationMs / 1000),
    /** All metrics of the server, in the exposition format. */
    bytes: () => metrics.bytes(),
    /** As messages of Prometheus' Protobuf. */
    protobuf: () => metrics.protobuf(),
    contentType: metrics.contentType,
  }
}

type Declared = ReturnType<typeof declareMetrics<typeof table>>

/** Measures the duration of requests by field validation. */
function createValidationCounter(declared: Declared): (request: GatewayRequest, seconds: number) => void {
  const validations = new Map<string, CountedSeries>()
  return (request, seconds) => {
    const word = (request.query.isEmpty ? undefined : request.query.get('fieldValidation')) ?? ''
    const field_validation = validationWords.has(word) ? word : 'Warn'
    const known = validations.get(field_validation)
    const one = known ?? declared.field_validation_request_duration_seconds.series({ field_validation })
    if (known === undefined) validations.set(field_validation, one)
    one.observe(seconds)
  }
}

/** The series of a request by one key, which replaces prom-client's hashing of nine labels on every request. */
function createRequestSeries(declared: Declared): (request: GatewayRequest) => Series {
  const { apiserver_request_total: requests, apiserver_request_duration_seconds: durations } = declared
  const { apiserver_response_sizes: sizes, apiserver_selfrequest_total: selfRequests } = declared
  const series = new Map<string, Series>()
  return (request) => {
    const key = keyOf(request)
    const known = series.get(key)
    if (known !== undefined) return known
    const { code, ...labels } = labelsOf(request)
    const { dry_run: _dryRun, ...sizeLabels } = labels
    const { verb, resource, subresource } = labels
    const made: Series = {
      request: requests.series({ ...labels, code }),
      duration: durations.series(labels),
      size: sizes.series(sizeLabels),
      own: declared.apiserver_request_sli_duration_seconds.series(sizeLabels),
      ownBefore: declared.apiserver_request_slo_duration_seconds.series(sizeLabels),
      self: lazily(() => selfRequests.series({ verb, resource, subresource })),
    }
    if (series.size < seriesMax) series.set(key, made)
    return made
  }
}

/** The numbers of open watches. */
function openWatches({ watches }: GatewayState) {
  const counted = new Map<string, { readonly labels: Record<(typeof longRunningLabels)[number], string>; count: number }>()
  for (const { request } of watches) {
    const key = keyOf(request)
    const known = counted.get(key)
    if (known !== undefined) {
      known.count += 1
      continue
    }
    const { code: _code, dry_run: _dryRun, ...labels } = labelsOf(request)
    counted.set(key, { labels, count: 1 })
  }
  return counted.values()
}

interface Series {
  readonly request: CountedNumber
  readonly duration: CountedSeries
  readonly size: CountedSeries
  readonly own: CountedSeries
  readonly ownBefore: CountedSeries
  /** For requests by parts of this process, which most series lack. */
  readonly self: () => CountedNumber
}

/** Verbs whose bodies are checked for unknown fields, and the values of `fieldValidation`. */
const validatingVerbs: ReadonlySet<string> = new Set(['create', 'update', 'patch'])
const validationWords: ReadonlySet<string> = new Set(['Ignore', 'Warn', 'Strict'])

/** Maximum cached combinations; labels come from served names, so this is never reached in practice. */
const seriesMax = 10_000

function keyOf(request: GatewayRequest): string {
  const { info } = request
  if (info.kind === 'path' || request.isUnserved) return `${methodWordOf(request)} ${request.code}`
  const verb = verbWords[info.verb] ?? methodWordOf(request)
  return `${verb} ${info.group} ${info.version} ${info.resource} ${info.subresource} ${scopeOf(request)} ${request.code} ${dryRunOf(request)}`
}

function labelsOf(request: GatewayRequest): Record<(typeof requestLabels)[number], string> {
  const { info, code } = request
  const common = { dry_run: dryRunOf(request), component: 'apiserver', code: String(code) }
  // Text from clients must not become a label.
  if (info.kind === 'path' || request.isUnserved) {
    return { ...common, verb: methodWordOf(request), group: '', version: '', resource: '', subresource: '', scope: '' }
  }
  const verb = verbWords[info.verb] ?? methodWordOf(request)
  return {
    ...common,
    verb,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    scope: scopeOf(request),
  }
}

/** HTTP/2 clients may invent methods without end. */
function methodWordOf({ method }: GatewayRequest): string {
  return knownMethods.has(method) ? method : 'other'
}

const knownMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE'])

const verbWords: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
}

function scopeOf({ info }: GatewayRequest): string {
  if (info.kind === 'path') return ''
  if (info.name !== '' || info.verb === 'create') return 'resource'
  return info.namespace === '' ? 'cluster' : 'namespace'
}

function dryRunOf({ query }: GatewayRequest): string {
  return query.isEmpty ? '' : (query.get('dryRun') ?? '') === '' ? '' : 'All'
}
