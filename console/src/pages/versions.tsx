import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Change } from '../change.ts'
import { type Kind, keyOfKind } from '../paths.ts'
import { repeat } from '../repeat.ts'
import { firstOf, messageOf, shortUser, timeOfDay } from '../text.ts'
import { readTimeline } from '../timeline.ts'
import { diffLines, diffParts, shownText, yamlLines } from '../yaml.ts'

const versionsMax = 50

interface VersionsProps {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
  /** True to show values. */
  readonly hasValues: boolean
}

/** The versions of an object, newest first, and the difference between any two. */
export function Versions({ kind, namespace, name, hasValues }: VersionsProps) {
  const found = useSignal<readonly Change[] | undefined>(undefined)
  const problem = useSignal('')
  const chosen = useSignal('')
  const base = useSignal('')
  const query = { resource: keyOfKind(kind), namespace: kind.isNamespaced ? namespace : '', name }
  useEffect(() => {
    let after = ''
    return repeat(
      () => readTimeline({ ...query, after, limit: String(versionsMax) }),
      ({ items, revision }) => {
        after = revision
        if (items.length > 0 || found.value === undefined) found.value = [...items, ...(found.value ?? [])].slice(0, versionsMax)
      },
      (error) => (problem.value = messageOf(error)),
    )
  }, [kind, namespace, name])
  const changes = found.value ?? []
  return (
    <section>
      <h2>Versions</h2>
      {problem.value !== '' && <p class="dim">{problem.value}</p>}
      {problem.value === '' && changes.length === 0 && (
        <p class="dim">{found.value === undefined ? 'Reading the versions …' : 'The history of the server has none of its changes.'}</p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <ul class="plain versions" tabIndex={0} aria-label="Versions, newest first">
        {changes.map(({ revision, event, user = 'the server', time, changed = [] }) => (
          <li key={revision}>
            <button
              type="button"
              class="version"
              disabled={!hasValues}
              aria-pressed={chosen.value === revision}
              onClick={() => (chosen.value = revision)}
            >
              {revision}
            </button>{' '}
            {event} by {shortUser(user)}{' '}
            <span class="dim">
              {time !== undefined && timeOfDay(time)} {firstOf(changed, 3)}
            </span>
          </li>
        ))}
      </ul>
      {chosen.value === '' && hasValues && changes.length > 0 && <p class="dim">Choose one to see what it changed.</p>}
      {chosen.value !== '' && hasValues && (
        <>
          <p class="tools">
            <label>
              {chosen.value} compared with{' '}
              <select value={base.value} onChange={(event) => (base.value = event.currentTarget.value)}>
                <option value="">the version before</option>
                {changes
                  .filter(({ revision }) => revision !== chosen.value)
                  .map(({ revision }) => (
                    <option key={revision} value={revision}>
                      {revision}
                    </option>
                  ))}
              </select>
            </label>
          </p>
          <Compared key={`${base.value} ${chosen.value}`} query={query} base={base.value} chosen={chosen.value} />
        </>
      )}
    </section>
  )
}

interface ComparedProps {
  readonly query: Readonly<Record<string, string>>
  /** '' for the version before the selected one. */
  readonly base: string
  readonly chosen: string
}

/** Reads the values of only two versions, because all values may be large. */
function Compared({ query, base, chosen }: ComparedProps) {
  const states = useSignal<{ readonly before: unknown; readonly after: unknown } | undefined>(undefined)
  const problem = useSignal('')
  useEffect(() => {
    const read = async (revision: string) => {
      const { items } = await readTimeline({ ...query, before: String(Number(revision) + 1), limit: '1', values: 'true' })
      if (items[0]?.revision !== revision) throw new Error(`revision ${revision} is not kept any more`)
      return items[0]
    }
    Promise.all([read(chosen), base === '' ? undefined : read(base)]).then(
      ([{ before, after }, other]) => {
        states.value = { before: other === undefined ? before : other.after, after }
      },
      (error: unknown) => {
        problem.value = messageOf(error)
      },
    )
  }, [])
  if (problem.value !== '') return <p class="bad">{problem.value}</p>
  return states.value === undefined ? <p class="dim">Reading the versions …</p> : <Difference {...states.value} />
}

/** Maximum number of displayed lines. */
const diffLinesShown = 1_000

/** Compares two versions of an object line by line. */
export function Difference({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const lines = diffLines(textOf(before), textOf(after))
  const isSame = lines.every(({ kind }) => kind === 'same')
  const parts = isSame ? [] : diffParts(lines, diffLinesShown)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    <section class="diff" tabIndex={0} aria-label="Difference of two versions">
      {parts.map((part, place) =>
        part.kind === 'left' ? (
          <p key={place} class="dim">
            … {part.count.toLocaleString('en')} {part.count === 1 ? 'line' : 'lines'} left out
          </p>
        ) : (
          part.lines.map(({ kind, text }, index) => (
            <pre key={`${place} ${index}`} class={kind}>
              {kind === 'added' ? '+ ' : kind === 'removed' ? '- ' : '  '}
              {shownText(text)}
            </pre>
          ))
        ),
      )}
      {isSame && <p class="dim">Both are the same.</p>}
    </section>
  )
}

/** Removes members that every write changes. */
function textOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const metadata: unknown = Reflect.get(value, 'metadata')
  const { managedFields: _, resourceVersion: __, ...rest } = { managedFields: undefined, resourceVersion: undefined, ...Object(metadata) }
  return yamlLines({ ...value, metadata: rest }).map(({ text }) => text)
}
