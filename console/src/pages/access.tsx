import { useSignal } from '@preact/signals'
import { ask, groupNamed } from '../api.ts'
import { route } from '../route.ts'
import { messageOf } from '../text.ts'
import { findKinds, kinds } from '../world.ts'
import { AdmissionAccount } from './admission.tsx'
import { ScratchPad } from './scratch-pad.tsx'

/** The page Access: costs and refusals of admission, a check of a user's rights, and a dry run of an object. */
export function Access() {
  return (
    <>
      <h1>Admission and access</h1>
      <div class="object">
        <ScratchPad />
        <Question />
      </div>
      <AdmissionAccount />
    </>
  )
}

interface Review {
  readonly status: { readonly allowed: boolean; readonly denied?: boolean; readonly reason?: string; readonly evaluationError?: string }
}

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']

/** Checks a right of a user; the reason names the rule. */
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
