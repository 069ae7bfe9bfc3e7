import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiError, ask } from '../api.ts'
import { messageOf, timeOfDay } from '../text.ts'

interface Fault {
  readonly name: string
  readonly on?: object
  readonly times?: number
  readonly effect?: object
  readonly hits: number
}

interface Clock {
  readonly now: string
  readonly virtual: boolean
  readonly pending?: readonly { readonly at: string; readonly background?: boolean }[]
  readonly timers?: number
}

interface Lasting {
  readonly name: string
  readonly kind?: string
}

interface Named {
  readonly name: string
}

interface State {
  readonly clock: Clock
  readonly faults: readonly Fault[]
  readonly weather: readonly Lasting[]
  readonly snapshots: readonly Named[]
}

const readAgainMs = 2_000
const pendingShown = 8

const control = '/orch/v1'

async function readState(): Promise<State> {
  const items = async <T,>(path: string) => (await ask<{ items: readonly T[] }>(`${control}${path}`)).items
  const [clock, faults, weather, snapshots] = await Promise.all([
    ask<Clock>(`${control}/clock`),
    items<Fault>('/faults'),
    items<Lasting>('/weather'),
    items<Named>('/snapshots'),
  ])
  return { clock, faults, weather, snapshots }
}

/** The page Weather and time: faults with their hits, what lasts, the clock, and moments to return to. */
export function Weather() {
  const state = useSignal<State | undefined>(undefined)
  const problem = useSignal('')
  const failure = useSignal('')
  const read = async () => {
    try {
      state.value = await readState()
      problem.value = ''
    } catch (error) {
      problem.value =
        error instanceof ApiError && error.code === 404
          ? 'The server has no control. Start it with orch up --control, in a test with start({ control: true, console: true }).'
          : messageOf(error)
    }
  }
  useEffect(() => {
    void read()
    const timer = setInterval(() => {
      if (!document.hidden && problem.value === '') void read()
    }, readAgainMs)
    return () => clearInterval(timer)
  }, [])
  const call = async (method: string, path: string, body?: object) => {
    try {
      failure.value = ''
      await ask(`${control}${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    } catch (error) {
      failure.value = messageOf(error)
    }
    await read()
  }
  const shown = state.value
  return (
    <>
      <h1>Weather and time</h1>
      {problem.value !== '' && (
        <p role="alert" class="problem">
          {problem.value}
        </p>
      )}
      {failure.value !== '' && (
        <p role="alert" class="problem">
          {failure.value}
        </p>
      )}
      {shown !== undefined && (
        <div class="object">
          <Faults faults={shown.faults} weather={shown.weather} call={call} />
          <div class="beside">
            <Time clock={shown.clock} call={call} />
            <Moments snapshots={shown.snapshots} call={call} />
          </div>
        </div>
      )}
    </>
  )
}

type Call = (method: string, path: string, body?: object) => Promise<void>

const effects: Readonly<Record<string, object>> = {
  'refuse with 503': { refuse: { code: 503 } },
  'refuse with 409': { refuse: { code: 409 } },
  'refuse with 429': { refuse: { code: 429, retryAfter: 1 } },
  'lose the reply': { loseReply: {} },
  'delay by 2 s': { delay: { time: '2s' } },
  hang: { hang: {} },
}

function Faults({ faults, weather, call }: Pick<State, 'faults' | 'weather'> & { readonly call: Call }) {
  const add = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    const on = Object.fromEntries(['user', 'verb', 'resource'].map((name) => [name, text(name)]).filter(([, value]) => value !== ''))
    const times = Number(text('times'))
    void call('POST', '/faults', { on, ...(times > 0 ? { times } : {}), effect: effects[text('effect')] })
  }
  return (
    <section aria-labelledby="faults">
      <h2 id="faults">Faults</h2>
      <ul class="plain">
        {faults.map(({ name, on = {}, times, effect = {}, hits }) => (
          <li key={name}>
            <strong>{name}</strong> {hits} {hits === 1 ? 'hit' : 'hits'}
            {times !== undefined && ` of ${times}`} <code>{JSON.stringify(on)}</code> <code>{JSON.stringify(effect)}</code>{' '}
            <button type="button" class="version" onClick={() => void call('DELETE', `/faults/${encodeURIComponent(name)}`)}>
              Remove<span class="unseen"> {name}</span>
            </button>
          </li>
        ))}
        {weather.map(({ name, kind }) => (
          <li key={name}>
            <strong>{name}</strong> {kind}{' '}
            <button type="button" class="version" onClick={() => void call('DELETE', `/weather/${encodeURIComponent(name)}`)}>
              End<span class="unseen"> {name}</span>
            </button>
          </li>
        ))}
        {faults.length + weather.length === 0 && <li class="dim">The weather is fine.</li>}
      </ul>
      <h3>Add a fault</h3>
      <form class="fields" onSubmit={add}>
        <label>
          <span>User</span>
          <input name="user" placeholder="operator" />
        </label>
        <label>
          <span>Verb</span>
          <input name="verb" placeholder="create" />
        </label>
        <label>
          <span>Resource</span>
          <input name="resource" placeholder="deployments.apps" />
        </label>
        <label>
          <span>Times</span>
          <input name="times" type="number" min="0" value="1" />
        </label>
        <label>
          <span>Effect</span>
          <select name="effect">
            {Object.keys(effects).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button type="submit">Add</button>
      </form>
      <h3>Watches</h3>
      <p class="tools">
        {(['cut', 'expire', 'end', 'hold'] as const).map((word) => (
          <button key={word} type="button" onClick={() => void call('POST', `/watches/${word}`, {})}>
            {word} all watches
          </button>
        ))}
      </p>
    </section>
  )
}

function Time({ clock, call }: { readonly clock: Clock; readonly call: Call }) {
  const pending = (clock.pending ?? []).filter(({ background }) => background !== true)
  return (
    <section aria-labelledby="time">
      <h2 id="time">Time</h2>
      <p>
        {new Date(clock.now).toLocaleString()} <span class="dim">{clock.virtual ? 'a virtual clock' : 'the clock of the machine'}</span>
      </p>
      {clock.virtual && (
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
            {clock.timers} timers; next at{' '}
            {pending
              .slice(0, pendingShown)
              .map(({ at }) => timeOfDay(at))
              .join(', ') || 'no time'}
          </p>
        </>
      )}
    </section>
  )
}

function Moments({ snapshots, call }: { readonly snapshots: readonly Named[]; readonly call: Call }) {
  return (
    <section aria-labelledby="moments">
      <h2 id="moments">Moments</h2>
      <ul class="plain">
        {snapshots.map(({ name }) => (
          <li key={name}>
            {name}{' '}
            <button type="button" class="version" onClick={() => void call('POST', '/restore', { snapshot: name })}>
              Restore<span class="unseen"> {name}</span>
            </button>
          </li>
        ))}
        {snapshots.length === 0 && <li class="dim">none is kept</li>}
      </ul>
      <button type="button" onClick={() => void call('POST', '/snapshots', { name: `console-${snapshots.length + 1}` })}>
        Keep this moment
      </button>
    </section>
  )
}
