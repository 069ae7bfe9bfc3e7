import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiError, ask } from '../api.ts'
import { Field, fieldsOf } from '../form.tsx'
import { Problem } from '../problem.tsx'
import { messageOf } from '../text.ts'
import { type Fault, Faults } from './faults.tsx'
import { type Call, type Clock, type Fork, Forks, Load, Moments, type Named, Time } from './time.tsx'

interface Lasting {
  readonly name: string
  readonly kind: string
  /** Members of the call that created it. */
  readonly given?: object
}

type State = Awaited<ReturnType<typeof readState>>

const readAgainMs = 2_000

const control = '/orch/v1'

async function readState() {
  const items = async <T,>(path: string) => (await ask<{ items: readonly T[] }>(`${control}${path}`)).items
  const [{ seed }, clock, faults, weather, snapshots, forks, users] = await Promise.all([
    ask<{ seed?: string | number }>(control),
    ask<Clock>(`${control}/clock`),
    items<Fault>('/faults'),
    items<Lasting>('/weather'),
    items<Named>('/snapshots'),
    items<Fork>('/forks'),
    items<Named>('/users'),
  ])
  return { seed: seed === undefined ? undefined : String(seed), clock, faults, weather, snapshots, forks, users }
}

/** The page Weather and time: faults with their hits, holds and freezes, the clock, and snapshots. */
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
  const call: Call = async (method, path, body) => {
    let answer: object | undefined
    try {
      failure.value = ''
      answer = await ask<object>(`${control}${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    } catch (error) {
      failure.value = messageOf(error)
    }
    await read()
    return answer
  }
  const shown = state.value
  return (
    <>
      <h1>Weather and time</h1>
      <Problem text={problem.value} />
      <Problem text={failure.value} />
      {shown !== undefined && (
        <div class="object">
          <div>
            <Faults faults={shown.faults} call={call} />
            <Lastings weather={shown.weather} users={shown.users} call={call} />
          </div>
          <div class="beside">
            <Time clock={shown.clock} seed={shown.seed} call={call} />
            <Moments snapshots={shown.snapshots} call={call} />
            <Forks forks={shown.forks} call={call} />
            <Load />
          </div>
        </div>
      )}
    </>
  )
}

const watchCalls = ['hold', 'withhold-bookmarks', 'cut', 'expire', 'end'] as const

/** Held watches and frozen reads, each with a button that ends it. */
function Lastings({ weather, users, call }: Pick<State, 'weather' | 'users'> & { readonly call: Call }) {
  const change = (event: SubmitEvent) => {
    const { what = 'hold', ...match } = fieldsOf(event)
    void call('POST', `/watches/${what}`, match)
  }
  const freeze = (event: SubmitEvent) => {
    const { user, back, on = '' } = fieldsOf(event)
    const point = /^\d+$/.test(back ?? '') ? { revisions: Number(back) } : { ago: back }
    void call('POST', '/reads/freeze', { user, ...point, ...(on === '' ? {} : { on: { resource: on } }) })
  }
  return (
    <section aria-labelledby="lasting">
      <h2 id="lasting">Watches and reads</h2>
      <ul class="plain">
        {weather.map(({ name, kind, given = {} }) => (
          <li key={name}>
            <strong>{name}</strong> {kind} <code>{JSON.stringify(given)}</code>{' '}
            <button type="button" class="version" onClick={() => void call('DELETE', `/weather/${encodeURIComponent(name)}`)}>
              Release<span class="unseen"> {name}</span>
            </button>
          </li>
        ))}
        {weather.length === 0 && <li class="dim">No watch is held, and no read is frozen.</li>}
      </ul>
      <h3>Watches</h3>
      <form class="fields" onSubmit={change}>
        <label>
          <span>Effect</span>
          <select name="what">
            {watchCalls.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <Field name="user" label="User" example="all" />
        <Field name="resource" label="Resource" example="all" />
        <Field name="namespace" label="Namespace" example="all" />
        <button type="submit">Do it</button>
      </form>
      <h3>Freeze the reads of a user</h3>
      {users.length === 0 ? (
        <p class="dim">There is none: a test makes users with server.user(), another program with POST /orch/v1/users.</p>
      ) : (
        <form class="fields" onSubmit={freeze}>
          <label>
            <span>User</span>
            <select name="user">
              {users.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <Field name="back" label="Revisions back, or a time such as 10s" required value="1" />
          <Field name="on" label="Resource" example="all" />
          <button type="submit">Freeze</button>
        </form>
      )}
    </section>
  )
}
