import { Field, fieldsOf } from '../form.tsx'
import type { Call } from './time.tsx'

/** A fault in the format of the server's control. */
export interface Fault {
  readonly name: string
  readonly on?: object
  readonly times?: number
  readonly effect?: object
  readonly hits: number
}

type Effects = Readonly<Record<string, object>>

const effects: Effects = {
  'refuse with 503': { refuse: { code: 503 } },
  'refuse with 409': { refuse: { code: 409 } },
  'refuse with 429': { refuse: { code: 429, retryAfter: 1 } },
  'lose the reply': { loseReply: {} },
  'delay by 2 s': { delay: { time: '2s' } },
  hang: { hang: {} },
}

const callEffects: Effects = {
  'refuse the connection': { refuseConnection: {} },
  'answer 500': { refuse: { code: 500 } },
  'lose the reply': { loseReply: {} },
  'break the answer off': { truncate: { bytes: 10 } },
  'delay by 2 s': { delay: { time: '2s' } },
  hang: { hang: {} },
}

/** Servers that receive calls of this server, by the kind in `on.outgoing` (docs/how-to/weather.md). */
const called: readonly (readonly [kind: string, label: string])[] = [
  ['webhook', 'admission webhook'],
  ['conversion', 'conversion webhook of a definition'],
  ['authentication', 'authentication webhook'],
  ['authorization', 'authorization webhook'],
  ['images', 'webhook of image policy'],
  ['audit', 'audit webhook'],
  ['apiservice', 'aggregated server'],
  ['kms', 'KMS plugin'],
  ['kubelet', 'kubelet'],
]

/** The faults with their hits, and forms to add a fault for requests or for outgoing calls. */
export function Faults({ faults, call }: { readonly faults: readonly Fault[]; readonly call: Call }) {
  const add = (on: object, { times, effect }: Readonly<Record<string, string>>, known: Effects) =>
    void call('POST', '/faults', { on, ...(Number(times) > 0 ? { times: Number(times) } : {}), effect: known[effect ?? ''] })
  const addForRequests = (event: SubmitEvent) => {
    const { times = '', effect = '', ...on } = fieldsOf(event)
    add(on, { times, effect }, effects)
  }
  const addForCalls = (event: SubmitEvent) => {
    const { kind = '', target = '*', ...rest } = fieldsOf(event)
    add({ outgoing: `${kind}/${target}` }, rest, callEffects)
  }
  return (
    <section aria-labelledby="faults">
      <h2 id="faults">Faults</h2>
      <ul class="plain">
        {faults.map(({ name, on = {}, times, effect = {}, hits }) => (
          <li key={name} class={hits === times ? 'dim' : ''}>
            <strong>{name}</strong> {hits} {hits === 1 ? 'hit' : 'hits'}
            {times !== undefined && ` of ${times}`} <code>{printed(on)}</code> <code>{printed(effect)}</code>{' '}
            <button type="button" class="version" onClick={() => void call('DELETE', `/faults/${encodeURIComponent(name)}`)}>
              Remove<span class="unseen"> {name}</span>
            </button>
          </li>
        ))}
        {faults.length === 0 && <li class="dim">The weather is fine.</li>}
      </ul>
      <h3>Add a fault of requests</h3>
      <form class="fields" onSubmit={addForRequests}>
        <Field name="user" label="User" example="operator" />
        <Field name="verb" label="Verb" example="create" />
        <Field name="resource" label="Resource" example="deployments.apps" />
        <Ending effects={effects} />
      </form>
      <h3>Add a fault of calls that the server makes</h3>
      <form class="fields" onSubmit={addForCalls}>
        <label>
          <span>Called</span>
          <select name="kind">
            {called.map(([kind, label]) => (
              <option key={kind} value={kind}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <Field name="target" label="Name, or a part of it with *" example="all" />
        <Ending effects={callEffects} />
      </form>
    </section>
  )
}

function Ending({ effects: known }: { readonly effects: Effects }) {
  return (
    <>
      <Field name="times" label="Times; 0 for always" type="number" min="0" value="1" />
      <label>
        <span>Effect</span>
        <select name="effect">
          {Object.keys(known).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <button type="submit">Add</button>
    </>
  )
}

/** Omits empty members. */
function printed(value: object): string {
  const isSaid = (member: unknown) => member !== false && !(Array.isArray(member) && member.length === 0)
  return JSON.stringify(value, (_, member: unknown) => (isSaid(member) ? member : undefined))
}
