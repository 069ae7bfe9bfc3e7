import type { LoggedRequest } from '@orch/core/contracts'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiError, ask, type Kind, keyOfKind } from '../api.ts'
import { linkTo, route, setQuery } from '../route.ts'
import { send } from '../session.ts'
import { type Column, Table } from '../table.tsx'
import { messageOf, shortUser, timeOfDay } from '../text.ts'
import { kinds } from '../world.ts'

/** Requests that the page holds: as many as the log of the server. */
const keptMax = 10_000
/** Twice a second: each time all requests are filtered and counted. */
const showEveryMs = 500

/** Requests of the same kind that follow each other. */
interface HotLoop {
  readonly user: string
  readonly what: string
  readonly perSecond: number
  readonly noops: number
}

const hotSeconds = 10
const hotPerSecond = 2

/** The page Requests: who asked for what, newest first; hot loops on top. */
export function Requests() {
  const log = useSignal<readonly LoggedRequest[]>([])
  const problem = useSignal('')
  const isPaused = useSignal(false)
  useEffect(() => {
    const ending = new AbortController()
    follow(ending.signal, (found) => {
      if (!isPaused.value) log.value = found
    }).catch((error: unknown) => {
      if (!ending.signal.aborted) problem.value = reasonOf(error)
    })
    return () => ending.abort()
  }, [])
  const { query } = route.value
  const [filter, ns, who] = [query.get('filter') ?? '', query.get('ns') ?? '', query.get('who') ?? 'others']
  const matches = matcherOf(filter, ns, who)
  const shown = log.value.filter(matches)
  return (
    <>
      <h1>Requests</h1>
      {problem.value !== '' && (
        <p role="alert" class="problem">
          {problem.value}
        </p>
      )}
      <HotLoops loops={hotLoopsOf(shown)} />
      <p class="tools">
        <label>
          Requests of{' '}
          <select value={who} onChange={(event) => setQuery({ who: event.currentTarget.value })}>
            <option value="others">clients</option>
            <option value="all">clients and the server itself</option>
          </select>
        </label>
        <label>
          <input type="checkbox" checked={isPaused.value} onChange={() => (isPaused.value = !isPaused.value)} /> paused
        </label>
        <span class="dim">{shown.length.toLocaleString('en')} requests</span>
      </p>
      <RequestTable rows={shown} empty={problem.value === '' ? 'No requests match.' : 'There is no log of requests.'} />
    </>
  )
}

/** Requests as a table, of which one can be looked at. */
export function RequestTable({ rows, empty }: { readonly rows: readonly LoggedRequest[]; readonly empty: string }) {
  const chosen = useSignal<LoggedRequest | undefined>(undefined)
  return (
    <>
      {chosen.value !== undefined && <Details request={chosen.value} close={() => (chosen.value = undefined)} />}
      <Table
        label="Requests, newest first"
        columns={columnsOf((request) => (chosen.value = request))}
        rows={rows}
        keyOf={({ id }) => String(id)}
        classOf={({ code, noop }) => (code >= 400 || code === 0 ? 'refused' : noop ? 'noop' : '')}
        empty={empty}
      />
    </>
  )
}

function reasonOf(error: unknown): string {
  if (error instanceof ApiError && error.code === 404) {
    return 'The server keeps no log of requests. Start it with orch up --control, in a test with start({ control: true, console: true }).'
  }
  return messageOf(error)
}

/** Reads the log and follows it. A request that is told again replaces the one of its number. */
async function follow(signal: AbortSignal, show: (found: readonly LoggedRequest[]) => void): Promise<void> {
  const { items } = await ask<{ items: readonly LoggedRequest[] }>('/orch/v1/requests?last=2000', { signal })
  const known = new Map(items.map((item) => [item.id, item]))
  let isWaiting = false
  const later = () => {
    if (isWaiting) return
    isWaiting = true
    setTimeout(() => {
      isWaiting = false
      for (const id of known.keys()) {
        if (known.size <= keptMax) break
        known.delete(id)
      }
      if (!signal.aborted && !document.hidden) show([...known.values()].reverse())
    }, showEveryMs)
  }
  later()
  const response = await send(`/api/orch/v1/requests?watch=true&after=${items.at(-1)?.id ?? 0}`, { signal })
  if (!response.ok || response.body === null) throw new Error(`the log cannot be followed: ${response.status}`)
  let rest = ''
  for await (const text of response.body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') continue
      const request: LoggedRequest = JSON.parse(line)
      known.set(request.id, request)
    }
    later()
  }
}

function matcherOf(filter: string, namespace: string, who: string): (request: LoggedRequest) => boolean {
  const wanted = filter.toLowerCase()
  return (request) => {
    if (namespace !== '' && request.namespace !== namespace) return false
    if (who === 'others' && isOfServer(request)) return false
    return (
      wanted === '' ||
      `${request.user} ${request.agent} ${request.verb} ${request.path} ${request.name} ${request.code}`.toLowerCase().includes(wanted)
    )
  }
}

/** Parts of the server and controllers have names of the system; the console itself is a browser. */
function isOfServer({ user, agent }: LoggedRequest): boolean {
  return user.startsWith('system:') || agent.startsWith('Mozilla/')
}

/** Clients that repeat one request more than twice a second for ten seconds. */
function hotLoopsOf(newestFirst: readonly LoggedRequest[]): HotLoop[] {
  const [newest] = newestFirst
  if (newest === undefined) return []
  const counts = new Map<string, { user: string; what: string; count: number; noops: number }>()
  for (const request of newestFirst) {
    if (request.time < newest.time - hotSeconds * 1_000) break
    if (request.watch !== undefined) continue
    const what = `${request.verb} ${request.resource === '' ? request.path : request.resource}${request.subresource === '' ? '' : `/${request.subresource}`} ${request.verb === 'list' ? '' : request.name}`
    const key = `${request.user} ${what}`
    const entry = counts.get(key) ?? { user: request.user, what, count: 0, noops: 0 }
    entry.count += 1
    if (request.noop) entry.noops += 1
    counts.set(key, entry)
  }
  return [...counts.values()]
    .filter(({ count }) => count >= hotPerSecond * hotSeconds)
    .sort((one, other) => other.count - one.count)
    .map(({ user, what, count, noops }) => ({ user, what, perSecond: count / hotSeconds, noops }))
}

function HotLoops({ loops }: { readonly loops: readonly HotLoop[] }) {
  if (loops.length === 0) return null
  return (
    <section class="hot" aria-labelledby="hot">
      <h2 id="hot">Hot loops</h2>
      <ul class="plain">
        {loops.slice(0, 5).map(({ user, what, perSecond, noops }) => (
          <li key={user + what}>
            <strong>{user}</strong> sends <code>{what}</code> {perSecond.toLocaleString('en', { maximumFractionDigits: 1 })} times a second
            {noops > 0 && `; ${noops.toLocaleString('en')} of them changed nothing`}.
          </li>
        ))}
      </ul>
    </section>
  )
}

function columnsOf(choose: (request: LoggedRequest) => void): Column<LoggedRequest>[] {
  return [
    {
      title: 'Time',
      cell: (request) => (
        <button type="button" class="link" onClick={() => choose(request)}>
          {timeOfDay(request.time)}
        </button>
      ),
      width: 16,
    },
    { title: 'User', cell: ({ user }) => shortUser(user), width: 22, isMinor: true },
    { title: 'Verb', cell: ({ verb }) => verb, width: 12, isMinor: true },
    {
      title: 'Object',
      cell: (request) => (
        <>
          <span class="phone">{request.verb} </span>
          <ObjectOf request={request} />
        </>
      ),
    },
    {
      title: 'Code',
      cell: ({ code }) => <span class={code >= 500 || code === 0 ? 'bad' : code >= 400 ? 'warn' : ''}>{code}</span>,
      isNumber: true,
      width: 8,
    },
    {
      title: 'ms',
      cell: ({ durationMs }) => (durationMs === undefined ? 'open' : durationMs.toFixed(durationMs < 10 ? 1 : 0)),
      isNumber: true,
      width: 9,
      isMinor: true,
    },
    { title: 'Revision', cell: ({ revision }) => revision ?? '', isNumber: true, width: 11, isMinor: true },
    {
      title: 'Result',
      cell: ({ changed, noop, fault }) => fault ?? (changed ? 'changed' : noop ? 'no change' : ''),
      width: 12,
      isMinor: true,
    },
    { title: 'Agent', cell: ({ agent }) => <span class="dim">{agent}</span>, width: 18, isMinor: true },
  ]
}

function kindOf({ group, resource }: LoggedRequest): Kind | undefined {
  return kinds.value.get(keyOfKind({ group, resource }))
}

function ObjectOf({ request }: { readonly request: LoggedRequest }) {
  const { resource, subresource, namespace, name, path } = request
  if (resource === '') return path
  const kind = kindOf(request)
  const text = `${resource}${subresource === '' ? '' : `/${subresource}`} ${namespace === '' ? '' : `${namespace}/`}${name}`
  return kind === undefined || name === '' ? text : <a href={linkTo('object', { kind: keyOfKind(kind), ns: namespace, name })}>{text}</a>
}

function Details({ request, close }: { readonly request: LoggedRequest; readonly close: () => void }) {
  return (
    <section class="details" aria-label="One request">
      <dl>
        {Object.entries(request)
          .filter(([, value]) => value !== '' && value !== false)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{name === 'time' ? new Date(Number(value)).toISOString() : String(value)}</dd>
            </div>
          ))}
      </dl>
      <button type="button" onClick={() => setQuery({ filter: request.user })}>
        Requests of this user
      </button>{' '}
      <button type="button" onClick={close}>
        Close
      </button>
    </section>
  )
}
