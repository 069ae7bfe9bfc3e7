import { useSignal } from '@preact/signals'
import { ask, groupNamed } from '../api.ts'
import { Field, fieldsOf } from '../form.tsx'
import { Problem } from '../problem.tsx'
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
    const { user, groups = '', verb, resource = '', ...place } = fieldsOf(event)
    const [kind] = findKinds(resource)
    const resourceAttributes = { verb, group: kind?.group ?? '', resource: kind?.resource ?? resource, ...place }
    const given = groups.split(/[\s,]+/).filter((group) => group !== '')
    const body = {
      apiVersion: `${groupNamed('authorization')}/v1`,
      kind: 'SubjectAccessReview',
      spec: { user, groups: [...given, 'system:authenticated'], resourceAttributes },
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
        <Field name="user" label="User" required example="system:serviceaccount:default:operator" />
        <Field name="groups" label="Groups" example="system:serviceaccounts" />
        <label>
          <span>Verb</span>
          <select name="verb">
            {verbs.map((verb) => (
              <option key={verb}>{verb}</option>
            ))}
          </select>
        </label>
        <Field name="resource" label="Kind" required list="kinds" example="pods" />
        <datalist id="kinds">
          {[...kinds.value.values()].map(({ resource, group }) => (
            <option key={`${resource}.${group}`} value={resource} />
          ))}
        </datalist>
        <Field name="namespace" label="Namespace" value={route.value.query.get('ns') ?? ''} />
        <Field name="name" label="Name" />
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
        <Problem text={problem.value} />
      </div>
    </section>
  )
}
