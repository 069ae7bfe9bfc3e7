import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { followWatches, type WatchLists } from '../open-watches.ts'
import { moment } from '../route.ts'
import { firstOf, shortUser } from '../text.ts'
import { type Lag, lagOf, type OpenWatch, printLag } from '../watch-lag.ts'

/** The watches of one client. */
interface Client {
  readonly key: string
  readonly user: string
  readonly agent: string
  readonly watches: readonly OpenWatch[]
  readonly lags: readonly Lag[]
}

const clientsShown = 50
const resourcesShown = 6

/** The open watches by client, those with the largest lag first. */
export function Watches() {
  const lists = useSignal<WatchLists | undefined>(undefined)
  useEffect(() => (moment.value === '' ? followWatches((found) => (lists.value = found)) : undefined), [])
  const clients = clientsOf(lists.value)
  if (clients.length === 0) return null
  return (
    <section aria-labelledby="watches">
      <h2 id="watches">Open watches</h2>
      <ul class="plain">
        {clients.slice(0, clientsShown).map(({ key, user, agent, watches, lags }) => (
          <li key={key}>
            <strong>{shortUser(user)}</strong> {watches.length} <span class="dim">{agent}</span>{' '}
            <span class="dim">{firstOf(resourcesOf(watches), resourcesShown)}</span>{' '}
            {lags.length === 0 ? (
              <span class="good">up to date</span>
            ) : (
              <span class="bad">
                {watches.length > 1 && `${lags.length} of ${watches.length} lag: `}
                {firstOf(lags.map(printLag), 2)}
              </span>
            )}
          </li>
        ))}
      </ul>
      {clients.length > clientsShown && <p class="dim">{clients.length - clientsShown} more clients</p>}
    </section>
  )
}

function clientsOf(lists: WatchLists | undefined): Client[] {
  if (lists === undefined) return []
  const { now, before } = lists
  const byClient = Map.groupBy(now.items, ({ user, agent = '' }) => `${user} ${agent}`)
  const clients = [...byClient].map(([key, watches]) => {
    const lags = watches.map((watch) => lagOf(watch, now.revision, before)).filter(({ kind }) => kind !== 'none')
    return { key, user: watches[0]?.user ?? '', agent: watches[0]?.agent ?? '', watches, lags }
  })
  return clients.sort((one, other) => other.lags.length - one.lags.length || other.watches.length - one.watches.length)
}

function resourcesOf(watches: readonly OpenWatch[]): string[] {
  return [...new Set(watches.map(({ path }) => path.slice(path.lastIndexOf('/') + 1)))].sort()
}
