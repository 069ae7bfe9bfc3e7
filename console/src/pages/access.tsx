import { useSignal } from '@preact/signals'
import { ask, groupNamed, type Kind, pathOf } from '../api.ts'
import { route } from '../route.ts'
import { send } from '../session.ts'
import { messageOf } from '../text.ts'
import { findKinds, kinds } from '../world.ts'

/** The page Access: may a user do something, and a dry run of an object. */
export function Access() {
  return (
    <>
      <h1>Admission and access</h1>
      <div class="object">
        <DryRun />
        <Question />
      </div>
    </>
  )
}

interface Review {
  readonly status: { readonly allowed: boolean; readonly denied?: boolean; readonly reason?: string; readonly evaluationError?: string }
}

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']

/** May a user do something; the reason names the rule. */
function Question() {
  const answer = useSignal<Review | undefined>(undefined)
  const problem = useSignal('')
  const askFor = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const value = (name: string) => String(form.get(name) ?? '').trim()
    const [kind] = findKinds(value('resource'))
    const resourceAttributes = {
      verb: value('verb'),
      group: kind?.group ?? '',
      resource: kind?.resource ?? value('resource'),
      namespace: value('namespace'),
      name: value('name'),
    }
    const groups = value('groups')
      .split(/[\s,]+/)
      .filter((group) => group !== '')
    const body = {
      apiVersion: `${groupNamed('authorization')}/v1`,
      kind: 'SubjectAccessReview',
      spec: { user: value('user'), groups: [...groups, 'system:authenticated'], resourceAttributes },
    }
    try {
      problem.value = ''
      answer.value = await ask<Review>(`/apis/${groupNamed('authorization')}/v1/subjectaccessreviews`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    } catch (error) {
      answer.value = undefined
      problem.value = messageOf(error)
    }
  }
  const status = answer.value?.status
  return (
    <section aria-labelledby="question">
      <h2 id="question">May a user do this?</h2>
      <form class="fields" onSubmit={(event) => void askFor(event)}>
        <label>
          <span>User</span>
          <input name="user" required placeholder="system:serviceaccount:default:operator" />
        </label>
        <label>
          <span>Groups</span>
          <input name="groups" placeholder="system:serviceaccounts" />
        </label>
        <label>
          <span>Verb</span>
          <select name="verb">
            {verbs.map((verb) => (
              <option key={verb}>{verb}</option>
            ))}
          </select>
        </label>
        <label>
          <span>Kind</span>
          <input name="resource" required list="kinds" placeholder="pods" />
          <datalist id="kinds">
            {[...kinds.value.values()].map(({ resource, group }) => (
              <option key={`${resource}.${group}`} value={resource} />
            ))}
          </datalist>
        </label>
        <label>
          <span>Namespace</span>
          <input name="namespace" value={route.value.query.get('ns') ?? ''} />
        </label>
        <label>
          <span>Name</span>
          <input name="name" />
        </label>
        <button type="submit">Ask</button>
      </form>
      <div role="status">
        {status !== undefined && (
          <p>
            <strong class={status.allowed ? 'good' : 'bad'}>
              {status.allowed ? 'Yes' : status.denied === true ? 'No, it is denied' : 'No'}
            </strong>{' '}
            {status.reason} {status.evaluationError}
          </p>
        )}
        {problem.value !== '' && <p class="problem">{problem.value}</p>}
      </div>
    </section>
  )
}

const example = `apiVersion: v1
kind: ConfigMap
metadata:
  name: example
  namespace: default
data:
  key: value
`

interface Outcome {
  readonly code: number
  readonly warnings: readonly string[]
  readonly text: string
}

/** Sends an object with `dryRun=All`: admission, defaults and validation answer, and nothing is stored. */
function DryRun() {
  const outcome = useSignal<Outcome | undefined>(undefined)
  const text = useSignal(example)
  const run = async (event: SubmitEvent) => {
    event.preventDefault()
    const path = pathFor(text.value)
    if (path === undefined) {
      outcome.value = { code: 0, warnings: [], text: 'The object needs apiVersion, kind and metadata.name, of a kind that the server has.' }
      return
    }
    const response = await send(`/api${path}?dryRun=All&fieldManager=console&force=true&fieldValidation=Strict`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+yaml', accept: 'application/yaml' },
      body: text.value,
    })
    const warnings = (response.headers.get('warning') ?? '').match(/"(?:[^"\\]|\\.)*"/g) ?? []
    outcome.value = { code: response.status, warnings, text: await response.text() }
  }
  const shown = outcome.value
  return (
    <section aria-labelledby="dry">
      <h2 id="dry">Dry run</h2>
      <form onSubmit={(event) => void run(event)}>
        <textarea
          aria-label="Object as YAML"
          rows={16}
          spellcheck={false}
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value
          }}
        />
        <button type="submit">Apply without storing</button>
      </form>
      <div role="status">
        {shown !== undefined && (
          <>
            <p class={shown.code >= 200 && shown.code < 300 ? 'good' : 'bad'}>
              {shown.code >= 200 && shown.code < 300
                ? `The server would accept it (${shown.code}).`
                : `The server refuses it${shown.code === 0 ? '.' : ` (${shown.code}).`}`}
            </p>
            {shown.warnings.map((warning) => (
              <p key={warning} class="warn">
                {warning}
              </p>
            ))}
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by the keyboard. */}
            <pre class="answer" tabIndex={0}>
              {shown.text}
            </pre>
          </>
        )}
      </div>
    </section>
  )
}

/** The path of an object, from the few lines of YAML or JSON that say what it is. */
function pathFor(text: string): string | undefined {
  const textOf = (name: string) => new RegExp(`^\\s*"?${name}"?:\\s*"?([\\w./-]+)"?,?\\s*$`, 'm').exec(text)?.[1] ?? ''
  const [group, version] = textOf('apiVersion').includes('/') ? textOf('apiVersion').split('/') : ['', textOf('apiVersion')]
  const wanted = textOf('kind')
  const found = [...kinds.value.values()].find((one) => one.group === group && one.kind === wanted)
  const name = textOf('name')
  if (found === undefined || name === '' || version === undefined) return undefined
  const kind: Kind = { ...found, version }
  return pathOf(kind, textOf('namespace') || 'default', name)
}
