import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Change } from '../change.ts'
import { type Kind, keyOfKind } from '../paths.ts'
import { firstOf, messageOf, shortUser, timeOfDay } from '../text.ts'
import { readTimeline } from '../timeline.ts'
import { diffLines, yamlLines } from '../yaml.ts'

const versionsMax = 50

interface VersionsProps {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
  /** The changes are shown with their values. */
  readonly hasValues: boolean
}

/** The versions of an object, newest first, and the difference of any two. */
export function Versions({ kind, namespace, name, hasValues }: VersionsProps) {
  const changes = useSignal<readonly Change[]>([])
  const problem = useSignal('')
  const chosen = useSignal<Change | undefined>(undefined)
  const base = useSignal('')
  const read = async () => {
    try {
      const query = { resource: keyOfKind(kind), namespace: kind.isNamespaced ? namespace : '', name, limit: String(versionsMax) }
      changes.value = (await readTimeline({ ...query, values: hasValues ? 'true' : '' })).items
    } catch (error) {
      problem.value = messageOf(error)
    }
  }
  useEffect(() => void read(), [kind, namespace, name, hasValues])
  const { value: shown } = chosen
  const other = changes.value.find(({ revision }) => revision === base.value)
  return (
    <section>
      <h2>Versions</h2>
      {problem.value !== '' && <p class="dim">{problem.value}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by the keyboard. */}
      <ul class="plain versions" tabIndex={0} aria-label="Versions, newest first">
        {changes.value.map((change) => (
          <li key={change.revision}>
            <button
              type="button"
              class="version"
              disabled={!hasValues}
              aria-pressed={shown === change}
              onClick={() => (chosen.value = change)}
            >
              {change.revision}
            </button>{' '}
            {change.event} by {shortUser(change.user ?? 'the server')}{' '}
            <span class="dim">
              {change.time !== undefined && timeOfDay(change.time)} {firstOf(change.changed ?? [], 3)}
            </span>
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => void read()}>
        Read again
      </button>
      {shown !== undefined && (
        <>
          <p class="tools">
            <label>
              {shown.revision} compared with{' '}
              <select value={base.value} onChange={(event) => (base.value = event.currentTarget.value)}>
                <option value="">the version before</option>
                {changes.value
                  .filter((change) => change !== shown)
                  .map(({ revision }) => (
                    <option key={revision} value={revision}>
                      {revision}
                    </option>
                  ))}
              </select>
            </label>
          </p>
          <Difference before={other === undefined ? shown.before : other.after} after={shown.after} />
        </>
      )}
    </section>
  )
}

/** Two versions of an object, line by line. */
export function Difference({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const lines = diffLines(textOf(before), textOf(after))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by the keyboard.
    <section class="diff" tabIndex={0} aria-label="Difference of two versions">
      {lines.map(({ kind, text }, index) => (
        <pre key={index} class={kind}>
          {kind === 'added' ? '+ ' : kind === 'removed' ? '- ' : '  '}
          {text}
        </pre>
      ))}
    </section>
  )
}

/** Without the members that every write changes. */
function textOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const metadata: unknown = Reflect.get(value, 'metadata')
  const { managedFields: _, resourceVersion: __, ...rest } = { managedFields: undefined, resourceVersion: undefined, ...Object(metadata) }
  return yamlLines({ ...value, metadata: rest }).map(({ text }) => text)
}
