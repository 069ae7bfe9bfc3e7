import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { ask } from '../api.ts'
import { counted, dayAndTime, messageOf, timeOfDay } from '../text.ts'

/** The clock of a server. */
export interface Clock {
  readonly now: string
  readonly virtual: boolean
  readonly pending?: readonly { readonly at: string; readonly background?: boolean }[]
  readonly timers?: number
}

/** A thing on the server with a name. */
export interface Named {
  readonly name: string
}

/** A fork of this server. */
export interface Fork extends Named {
  readonly url: string
}

/** Calls the server's control. Returns undefined after a failure, which the page then shows. */
export type Call = (method: string, path: string, body?: object) => Promise<object | undefined>

interface Calling {
  readonly call: Call
}

const pendingShown = 8

/** The clock, the seed, and controls for a virtual clock. */
export function Time({ clock, seed, call }: { readonly clock: Clock; readonly seed: string | undefined } & Calling) {
  const pending = (clock.pending ?? []).filter(({ background }) => background !== true)
  return (
    <section aria-labelledby="time">
      <h2 id="time">Time</h2>
      <p>
        {dayAndTime(clock.now)} <span class="dim">{clock.virtual ? 'a virtual clock' : 'the clock of the machine'}</span>
      </p>
      <p class="dim">{seed === undefined ? 'Names and uids are drawn without a seed.' : `Seed ${seed}`}</p>
      {clock.virtual ? (
        <>
          <p class="tools">
            {['1s', '10s', '1m', '10m', '1h', '24h'].map((by) => (
              <button key={by} type="button" onClick={() => void call('POST', '/clock/advance', { by })}>
                +{by}
              </button>
            ))}
            <button type="button" onClick={() => void call('POST', '/clock/next', {})}>
              to the next timer
            </button>
          </p>
          <p class="dim">
            {counted(clock.timers ?? 0, 'timer')}; next at{' '}
            {pending
              .slice(0, pendingShown)
              .map(({ at }) => timeOfDay(at))
              .join(', ') || 'no time'}
          </p>
        </>
      ) : (
        <p class="dim">It cannot be moved. A server with a virtual clock: orch up --control --virtual-clock.</p>
      )}
    </section>
  )
}

/** Snapshots of this server, which can be restored. */
export function Moments({ snapshots, call }: { readonly snapshots: readonly Named[] } & Calling) {
  return (
    <section aria-labelledby="moments">
      <h2 id="moments">Moments</h2>
      <ul class="plain">
        {snapshots.map(({ name }) => (
          <li key={name}>
            {name}{' '}
            <button type="button" class="version" onClick={() => void call('POST', '/restore', { snapshot: name })}>
              Restore<span class="unseen"> {name}</span>
            </button>{' '}
            <button type="button" class="version" onClick={() => void call('DELETE', `/snapshots/${encodeURIComponent(name)}`)}>
              Forget<span class="unseen"> {name}</span>
            </button>
          </li>
        ))}
        {snapshots.length === 0 && <li class="dim">none is kept</li>}
      </ul>
      <button type="button" onClick={() => void call('POST', '/snapshots', {})}>
        Keep this moment
      </button>
    </section>
  )
}

/** Forks of this server, each with a console. */
export function Forks({ forks, call }: { readonly forks: readonly Fork[] } & Calling) {
  const link = useSignal<{ readonly name: string; readonly url: string } | undefined>(undefined)
  const open = async (name: string) => {
    const answer = await call('POST', `/forks/${encodeURIComponent(name)}/console`, {})
    link.value = answer === undefined ? undefined : { name, url: String(Reflect.get(answer, 'url')) }
  }
  return (
    <section aria-labelledby="forks">
      <h2 id="forks">Forks</h2>
      <ul class="plain">
        {forks.map(({ name, url }) => (
          <li key={name}>
            <strong>{name}</strong> <span class="dim">{url}</span>{' '}
            <button type="button" class="version" onClick={() => void open(name)}>
              Console<span class="unseen"> of {name}</span>
            </button>{' '}
            <button type="button" class="version" onClick={() => void call('DELETE', `/forks/${encodeURIComponent(name)}`)}>
              End<span class="unseen"> {name}</span>
            </button>
            {link.value?.name === name && (
              <>
                {' '}
                <a href={link.value.url} target="_blank" rel="noreferrer noopener" onClick={() => (link.value = undefined)}>
                  Open the console of {name}
                </a>{' '}
                <span class="dim">once, within a minute</span>
              </>
            )}
          </li>
        ))}
        {forks.length === 0 && <li class="dim">none was made</li>}
      </ul>
      <button type="button" onClick={() => void call('POST', '/forks', {})}>
        Fork this moment
      </button>
    </section>
  )
}

/** The server's report about a load. */
interface LoadReport {
  readonly loaded: number
  readonly kinds: Readonly<Record<string, number>>
  readonly unknown: Readonly<Record<string, number>>
  readonly skipped: Readonly<Record<string, number>>
  readonly findings: readonly { readonly object: string; readonly file: string; readonly reason: string }[]
  readonly unread: readonly { readonly file: string; readonly reason: string }[]
}

const findingsShown = 20

/** Loads the objects of a dump of another cluster. */
export function Load() {
  const input = useRef<HTMLInputElement>(null)
  const report = useSignal<LoadReport | undefined>(undefined)
  const problem = useSignal('')
  const isLoading = useSignal(false)
  const load = async (event: SubmitEvent) => {
    event.preventDefault()
    const file = input.current?.files?.[0]
    if (file === undefined) return
    isLoading.value = true
    try {
      const query = new URLSearchParams({ name: file.name, secrets: 'redact' })
      const headers = { 'content-type': 'application/octet-stream' }
      report.value = await ask<LoadReport>(`/orch/v1/load?${query}`, { method: 'POST', headers, body: file })
      problem.value = ''
    } catch (error) {
      report.value = undefined
      problem.value = `${file.name}: ${messageOf(error)}`
    }
    isLoading.value = false
  }
  const { value: shown } = report
  const left = (counts: Readonly<Record<string, number>>, why: string) =>
    Object.keys(counts).length === 0 ? '' : ` ${why}: ${printCounts(Object.entries(counts))}.`
  return (
    <section aria-labelledby="load">
      <h2 id="load">Load a dump</h2>
      <form class="tools" onSubmit={(event) => void load(event)}>
        <label>
          <span class="dim">A file of kubectl, an archive of must-gather or velero (.tar.gz), or a snapshot of etcd</span>{' '}
          <input ref={input} type="file" required />
        </label>
        <button type="submit" disabled={isLoading.value}>
          {isLoading.value ? 'Loading …' : 'Load'}
        </button>
      </form>
      <div role="status">
        {problem.value !== '' && <p class="bad">{problem.value}</p>}
        {shown !== undefined && (
          <>
            <p>
              {counted(shown.loaded, 'object')} loaded: {printCounts(Object.entries(shown.kinds))}.
              {left(shown.unknown, 'Kinds that are not served')}
              {left(shown.skipped, 'Left out, since a cluster makes them itself')} The values of Secrets are redacted.
            </p>
            <ul class="plain">
              {[...shown.findings, ...shown.unread.map((one) => ({ ...one, object: '' }))]
                .slice(0, findingsShown)
                .map(({ object, file, reason }) => (
                  <li key={`${file} ${object} ${reason}`}>
                    {file} {object} <span class="dim">{reason}</span>
                  </li>
                ))}
            </ul>
          </>
        )}
      </div>
    </section>
  )
}

function printCounts(counts: readonly (readonly [kind: string, count: number])[]): string {
  return counts.map(([kind, count]) => `${count.toLocaleString('en')} ${kind}`).join(', ') || 'none'
}
