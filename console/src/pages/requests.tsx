import type { LoggedRequest } from '@orch/core/contracts'
import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { ApiError, errorOf } from '../api.ts'
import { type HotLoop, hotLoopsOf, type Quarrel, quarrelsOf } from '../hot-loops.ts'
import { readLines } from '../lines.ts'
import { keyOfKind } from '../paths.ts'
import { Problem } from '../problem.tsx'
import { linkTo, route, setQuery } from '../route.ts'
import { send } from '../session.ts'
import { type Column, Table } from '../table.tsx'
import { counted, messageOf, shortUser, timeOfDay } from '../text.ts'
import { kinds } from '../world.ts'
import { RequestDetails } from './request.tsx'

/** Updates twice a second, because each update filters and counts all requests. */
const showEveryMs = 500

/** Delay before the log is followed again after its stream has ended. */
const followAgainMs = 1_000

/** The page Requests: all requests, newest first, with hot loops at the top. */
export function Requests() {
  const version = useSignal(0)
  const problem = useSignal('')
  const isPaused = useSignal(false)
  const log = useMemo(() => new FollowedLog(), [])
  useEffect(() => {
    let ending = new AbortController()
    const follow = (signal: AbortSignal) => {
      if (signal.aborted) return
      const again = () => setTimeout(() => follow(signal), followAgainMs)
      followLog(log, signal).then(again, (error: unknown) => {
        if (error instanceof ApiError) problem.value = reasonOf(error)
        else again()
      })
    }
    // Browsers open few connections to a server, for all tabs together: a hidden tab has none.
    const change = () => {
      ending.abort()
      ending = new AbortController()
      if (!document.hidden) follow(ending.signal)
    }
    change()
    document.addEventListener('visibilitychange', change)
    const timer = setInterval(() => {
      if (!isPaused.value && !document.hidden) version.value = log.version
    }, showEveryMs)
    return () => {
      ending.abort()
      document.removeEventListener('visibilitychange', change)
      clearInterval(timer)
    }
  }, [])
  const { query } = route.value
  const [filter, ns, who] = [query.get('filter') ?? '', query.get('ns') ?? '', query.get('who') ?? 'others']
  const shownVersion = version.value
  const shown = useMemo(() => log.requests.filter(matcherOf(filter, ns, who)).reverse(), [shownVersion, filter, ns, who])
  const { loops, quarrels } = useMemo(() => ({ loops: hotLoopsOf(shown), quarrels: quarrelsOf(shown) }), [shown])
  return (
    <>
      <h1>Requests</h1>
      <Problem text={problem.value} />
      <HotLoops loops={loops} quarrels={quarrels} />
      <p class="tools">
        <label>
          Requests of{' '}
          <select value={who} onChange={(event) => setQuery({ who: event.currentTarget.value })}>
            <option value="others">clients</option>
            <option value="all">clients, the server itself and the console</option>
          </select>
        </label>
        <label>
          <input type="checkbox" checked={isPaused.value} onChange={() => (isPaused.value = !isPaused.value)} /> paused
        </label>
        <span class="dim">{counted(shown.length, 'request')}</span>
      </p>
      <RequestTable rows={shown} hasServer empty={problem.value === '' ? emptyText(filter, ns, who) : ''} />
    </>
  )
}

function emptyText(filter: string, namespace: string, who: string): string {
  if (filter !== '' || namespace !== '') return 'No request matches: clear the filter, or choose all namespaces.'
  return who === 'all'
    ? 'There is no request yet.'
    : 'No client has sent a request yet. Those of the server itself are shown with Requests of.'
}

interface RequestTableProps {
  readonly rows: readonly LoggedRequest[]
  readonly empty: string
  /** True if a server can provide the details of a request. */
  readonly hasServer?: boolean
}

/** A table of requests, one of which can be opened. */
export function RequestTable({ rows, empty, hasServer = false }: RequestTableProps) {
  const chosen = useSignal<LoggedRequest | undefined>(undefined)
  const { value: request } = chosen
  return (
    <>
      {request !== undefined && (
        <RequestDetails key={request.id} request={request} hasServer={hasServer} close={() => (chosen.value = undefined)} />
      )}
      <Table
        label="Requests, newest first"
        columns={columnsOf((request) => (chosen.value = request))}
        rows={rows}
        keyOf={({ id }) => String(id)}
        classOf={({ noop }) => (noop ? 'noop' : '')}
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

/** True if a request contains each word of the filter. */
function matcherOf(filter: string, namespace: string, who: string): (request: LoggedRequest) => boolean {
  const words = filter
    .toLowerCase()
    .split(' ')
    .filter((word) => word !== '')
  return (request) => {
    if (namespace !== '' && request.namespace !== namespace) return false
    if (who === 'others' && request.from !== undefined) return false
    if (words.length === 0) return true
    const { user, agent, verb, path, name, code } = request
    const text = `${user} ${agent} ${verb} ${path} ${name} ${code}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
}

const loopsShown = 5

function HotLoops({ loops, quarrels }: { readonly loops: readonly HotLoop[]; readonly quarrels: readonly Quarrel[] }) {
  if (loops.length + quarrels.length === 0) return null
  return (
    <section class="hot" aria-labelledby="hot">
      <h2 id="hot">Hot loops</h2>
      <ul class="plain">
        {quarrels.slice(0, loopsShown).map(({ users, changes, newest }) => (
          <li key={`${newest.resource} ${newest.namespace}/${newest.name}`}>
            <strong>{users.map(shortUser).join(' and ')}</strong> change <ObjectOf request={newest} /> in turns, {changes} times in ten
            seconds.
          </li>
        ))}
        {loops.slice(0, loopsShown).map(({ user, what, perSecond, noops, newest }) => (
          <li key={user + what}>
            <strong>{shortUser(user)}</strong> sends <code>{what}</code> {perSecond.toLocaleString('en', { maximumFractionDigits: 1 })}{' '}
            times a second
            {noops > 0 && `; ${noops.toLocaleString('en')} of them changed nothing`}. <ObjectOf request={newest} />
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
          <TimeOfDay time={request.time} />
        </button>
      ),
      width: 16,
      isShort: true,
    },
    { title: 'User', cell: ({ user }) => shortUser(user), width: 18, isMinor: true },
    { title: 'Verb', cell: ({ verb }) => verb, width: 9, isMinor: true },
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
    {
      title: 'Agent',
      cell: ({ agent }) => (
        <span class="dim" title={agent}>
          {agent}
        </span>
      ),
      width: 16,
      isMinor: true,
    },
  ]
}

/** A phone shows the milliseconds on a second line. */
function TimeOfDay({ time }: { readonly time: number }) {
  const [seconds = '', milliseconds = ''] = timeOfDay(time).split('.')
  return (
    <>
      {seconds}
      <wbr />.{milliseconds}
    </>
  )
}

/** The object of a request, as a link to its page. */
function ObjectOf({ request }: { readonly request: LoggedRequest }) {
  const { resource, subresource, namespace, name, path } = request
  if (resource === '') return path
  const kind = kinds.value.get(keyOfKind(request))
  const text = `${resource}${subresource === '' ? '' : `/${subresource}`} ${namespace === '' || name === '' ? namespace : `${namespace}/`}${name}`
  return kind === undefined || name === '' ? text : <a href={linkTo('object', { kind: keyOfKind(kind), ns: namespace, name })}>{text}</a>
}

/** Maximum requests on the page, as in the server's log. */
const keptMax = 10_000
/** The last requests, oldest first. A repeated id (the end of a watch) replaces the earlier request. */
class FollowedLog {
  /** Oldest first. Valid until the next change. */
  requests: LoggedRequest[] = []
  /** Increases with each change. */
  version = 0

  add(request: LoggedRequest): void {
    const requests = this.requests
    this.version += 1
    const last = requests.at(-1)
    if (last === undefined || request.id > last.id) requests.push(request)
    else {
      const place = this.#placeOf(request.id)
      if (place >= 0) requests[place] = request
    }
    // Removes a thousand requests at a time, because each removal moves all others.
    if (requests.length > keptMax + 1_000) requests.splice(0, requests.length - keptMax)
  }

  /** Binary search for the index of an id, since ids are ascending; negative if the id is unknown. */
  #placeOf(id: number): number {
    let [low, high] = [0, this.requests.length - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      const found = this.requests[middle]?.id ?? 0
      if (found === id) return middle
      if (found < id) low = middle + 1
      else high = middle - 1
    }
    return -1
  }
}

/** Reads the server's whole log as a stream, and follows it until the signal aborts. Rejects if the server has no log. */
async function followLog(log: FollowedLog, signal: AbortSignal): Promise<void> {
  const response = await send(`/api/orch/v1/requests?watch=true&after=${log.requests.at(-1)?.id ?? 0}`, { signal })
  if (!response.ok || response.body === null) throw await errorOf(response)
  await readLines<LoggedRequest>(response.body, (requests) => {
    for (const request of requests) log.add(request)
  })
}
