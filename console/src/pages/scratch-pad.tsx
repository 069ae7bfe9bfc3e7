import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { formOf, serverFacts } from '../api.ts'
import { isSecret, type Kind, pathOf } from '../paths.ts'
import { send } from '../session.ts'
import { messageOf } from '../text.ts'
import { kinds } from '../world.ts'
import { Decisions } from './decisions.tsx'

const example = `apiVersion: v1
kind: ConfigMap
metadata:
  name: example
  namespace: default
data:
  key: value
`

type Outcome = Awaited<ReturnType<typeof dryRun>>

/** Sends an object with `dryRun=All`: the server applies defaults, admission and validation, and stores nothing. */
export function ScratchPad() {
  const outcome = useSignal<Outcome | undefined>(undefined)
  const problem = useSignal('')
  const text = useRef(example)
  const run = async (event: SubmitEvent) => {
    event.preventDefault()
    const target = targetOf(text.current)
    outcome.value = undefined
    problem.value = target === undefined ? 'The object needs apiVersion, kind and metadata.name, of a kind that the server has.' : ''
    if (target === undefined) return
    try {
      outcome.value = await dryRun(target, text.current)
    } catch (error) {
      problem.value = messageOf(error)
    }
  }
  const { value: shown } = outcome
  return (
    <section aria-labelledby="dry">
      <h2 id="dry">Dry run</h2>
      <form onSubmit={(event) => void run(event)}>
        <YamlField
          text={example}
          onChange={(changed) => {
            text.current = changed
          }}
        />
        <button type="submit">Apply without storing</button>
      </form>
      <div role="status">
        {problem.value !== '' && <p class="bad">{problem.value}</p>}
        {shown !== undefined && (
          <>
            <p class={isAccepted(shown) ? 'good' : 'bad'}>
              {isAccepted(shown) ? `The server would accept it (${shown.code}).` : `The server refuses it (${shown.code}).`}
            </p>
            {shown.warnings.map((warning) => (
              <p key={warning} class="warn">
                {warning}
              </p>
            ))}
            {shown.explanation !== undefined && <Decisions explanation={shown.explanation} />}
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
            <pre class="answer" tabIndex={0}>
              {shown.text}
            </pre>
          </>
        )}
      </div>
    </section>
  )
}

/** Shows a plain field while the editor is loading or if it cannot be loaded. */
function YamlField({ text, onChange }: { readonly text: string; readonly onChange: (text: string) => void }) {
  const host = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  const hasEditor = useSignal(false)
  useEffect(() => {
    let close: (() => void) | undefined
    let isOver = false
    import('../editor.ts').then(
      ({ openEditor }) => {
        if (isOver || host.current === null) return
        const typed = field.current?.value ?? text
        const editor = openEditor({ host: host.current, label: 'Object as YAML', text: typed, onChange })
        close = () => editor.close()
        hasEditor.value = true
      },
      () => {},
    )
    return () => {
      isOver = true
      close?.()
    }
  }, [])
  return (
    <>
      <div ref={host} class="editor" />
      {!hasEditor.value && (
        <textarea
          ref={field}
          aria-label="Object as YAML"
          rows={16}
          spellcheck={false}
          onInput={(event) => onChange(event.currentTarget.value)}
        >
          {text}
        </textarea>
      )}
    </>
  )
}

function isAccepted({ code }: Outcome): boolean {
  return code >= 200 && code < 300
}

/** The identity of an object. */
interface Target {
  readonly kind: Kind
  readonly path: string
}

/** Shows the answer about a Secret as a row: the stored object may contain other values than the text. */
async function dryRun({ kind, path }: Target, body: string) {
  const header = serverFacts().explainHeader
  const accept = isSecret(kind) ? formOf('Table') : 'application/yaml'
  const response = await send(`/api${path}?dryRun=All&fieldManager=console&force=true&fieldValidation=Strict&includeObject=None`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/apply-patch+yaml', accept, [header]: '1' },
    body,
  })
  const explained = response.headers.get(header)
  return {
    code: response.status,
    warnings: (response.headers.get('warning') ?? '').match(/"(?:[^"\\]|\\.)*"/g) ?? [],
    explanation: explained === null ? undefined : JSON.parse(explained),
    text: response.ok && isSecret(kind) ? 'The values of a Secret are not shown.' : await response.text(),
  }
}

/** Reads apiVersion, kind, name and namespace of an object in YAML or JSON. */
function targetOf(text: string): Target | undefined {
  const textOf = (name: string) => new RegExp(`^\\s*"?${name}"?:\\s*"?([\\w./-]+)"?,?\\s*$`, 'm').exec(text)?.[1] ?? ''
  const [group, version] = textOf('apiVersion').includes('/') ? textOf('apiVersion').split('/') : ['', textOf('apiVersion')]
  const wanted = textOf('kind')
  const found = [...kinds.value.values()].find((one) => one.group === group && one.kind === wanted)
  const name = textOf('name')
  if (found === undefined || name === '' || version === undefined) return undefined
  const kind: Kind = { ...found, version }
  return { kind, path: pathOf(kind, textOf('namespace') || 'default', name) }
}
