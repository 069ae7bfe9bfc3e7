import type { LoggedRequest } from '@orch/core/contracts'
import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask, serverFacts } from '../api.ts'
import { Dialog } from '../dialog.tsx'
import { bytesOf, type DetailedRequest, replayEffect, replayProblem, traceIdOf } from '../replay.ts'
import { setQuery } from '../route.ts'
import { send } from '../session.ts'
import { messageOf } from '../text.ts'
import { Decisions } from './decisions.tsx'

interface RequestDetailsProps {
  readonly request: LoggedRequest
  readonly hasServer: boolean
  readonly close: () => void
}

/** A logged request: its members, the decisions about it, its body on request, and a button to send it again. */
export function RequestDetails({ request, hasServer, close }: RequestDetailsProps) {
  const details = useSignal<DetailedRequest | undefined>(undefined)
  const problem = useSignal('')
  const read = async (query = '') => {
    try {
      details.value = await ask<DetailedRequest>(`/orch/v1/requests/${request.id}${query}`)
    } catch (error) {
      problem.value = messageOf(error)
    }
  }
  useEffect(() => {
    if (hasServer) void read()
  }, [])
  const { value: shown } = details
  return (
    <section class="details" aria-label="One request">
      <Members request={shown ?? request} />
      {problem.value !== '' && <p class="dim">Its details cannot be read: {problem.value}</p>}
      {shown?.explanation !== undefined && <Decisions explanation={shown.explanation} />}
      {shown !== undefined && shown.explanation === undefined && (
        <p class="dim">How it was decided is kept of the last 256 writes and 256 refusals. Send it again to see how it is decided now.</p>
      )}
      {shown?.body !== undefined && <Body request={shown} show={() => void read('?body=true')} />}
      <p class="tools">
        <button type="button" onClick={() => setQuery({ filter: request.user })}>
          Requests of this user
        </button>
        {shown !== undefined && <Replay request={shown} />}
        <button type="button" onClick={close}>
          Close
        </button>
      </p>
    </section>
  )
}

const unlisted = new Set(['body', 'explanation', 'traceparent', 'changed', 'noop'])

function Members({ request }: { readonly request: LoggedRequest & Partial<DetailedRequest> }) {
  const members = Object.entries(request).filter(([name, value]) => value !== '' && !unlisted.has(name))
  return (
    <dl>
      {members.map(([name, value]) => (
        <Member key={name} name={name} value={printMember(name, value)} />
      ))}
      {request.traceparent !== undefined && <Member name="trace" value={traceIdOf(request.traceparent)} />}
      <Member name="result" value={request.changed ? 'changed' : request.noop ? 'no change' : 'nothing was written'} />
    </dl>
  )
}

function printMember(name: string, value: unknown): string {
  if (name === 'time') return new Date(Number(value)).toISOString()
  return name === 'durationMs' ? Number(value).toFixed(1) : String(value)
}

function Member({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function Body({ request: { body, resource }, show }: { readonly request: DetailedRequest; readonly show: () => void }) {
  if (body === undefined) return null
  const { bytes, contentType, isKept, hidden, base64, json, text = json } = body
  return (
    <section aria-label="Body">
      <h3>Body</h3>
      <p class="tools">
        <span class="dim">
          {bytes.toLocaleString('en')} bytes of {contentType}
          {!isKept && ', which are not kept'}
        </span>
        {hidden !== undefined && <span class="bad">{hidden}</span>}
        {isKept && hidden === undefined && text === undefined && base64 === undefined && (
          <button type="button" onClick={show}>
            {resource === 'secrets' ? 'Show the body, with the values of the Secret' : 'Show the body'}
          </button>
        )}
      </p>
      {text !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
        <pre class="answer" tabIndex={0}>
          {printed(text)}
        </pre>
      )}
      {base64 !== undefined && (
        <p class="dim">
          {json === undefined ? 'Its bytes are no text, and no object that the server knows.' : 'The object in it, as JSON.'}
        </p>
      )}
    </section>
  )
}

function printed(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

type Answer = Awaited<ReturnType<typeof sendAgain>>

/** Sends a request again as the user of the console, after a confirmation. */
function Replay({ request }: { readonly request: DetailedRequest }) {
  const isAsking = useSignal(false)
  const answer = useSignal<Answer | undefined>(undefined)
  const problem = useSignal('')
  const reason = replayProblem(request)
  const again = async () => {
    isAsking.value = false
    try {
      answer.value = await sendAgain(request)
    } catch (error) {
      problem.value = messageOf(error)
    }
  }
  return (
    <>
      <button type="button" disabled={reason !== ''} onClick={() => (isAsking.value = true)}>
        Send again
      </button>
      {reason !== '' && <span class="dim">It cannot be sent again: {reason}.</span>}
      {problem.value !== '' && <span class="bad">{problem.value}</span>}
      {isAsking.value && <Confirmation request={request} isAsking={isAsking} confirm={() => void again()} />}
      {answer.value !== undefined && <AnswerShown answer={answer.value} />}
    </>
  )
}

interface ConfirmationProps {
  readonly request: DetailedRequest
  readonly isAsking: Signal<boolean>
  readonly confirm: () => void
}

function Confirmation({ request, isAsking, confirm }: ConfirmationProps) {
  const { method, path, query } = request
  return (
    <Dialog label="Send the request again" close={() => (isAsking.value = false)}>
      <h2>Send the request again?</h2>
      <p>
        <code>
          {method} {path}
          {query !== '' && `?${query}`}
        </code>
      </p>
      <p>
        You send it yourself, with your own rights. {replayEffect(request)}
        {request.resource === 'secrets' && ' The values of the Secret are read by this page for it.'}
      </p>
      <p class="tools">
        <button type="button" class={method === 'GET' ? '' : 'unsafe'} onClick={confirm}>
          Send {method}
        </button>
        <button type="button" onClick={() => (isAsking.value = false)}>
          Cancel
        </button>
      </p>
    </Dialog>
  )
}

async function sendAgain({ id, method, path, query, body }: DetailedRequest) {
  const header = serverFacts().explainHeader
  const whole = body === undefined ? undefined : (await ask<DetailedRequest>(`/orch/v1/requests/${id}?body=true`)).body
  if (whole?.hidden !== undefined) throw new Error(`its body cannot be read: ${whole.hidden}`)
  const headers = { [header]: '1', accept: 'application/json', ...(whole === undefined ? {} : { 'content-type': whole.contentType }) }
  const sent = { method, headers, ...(whole === undefined ? {} : { body: bytesOf(whole) }) }
  const response = await send(`/api${path}${query === '' ? '' : `?${query}`}`, sent)
  const explanation = response.headers.get(header)
  return {
    code: response.status,
    explanation: explanation === null ? undefined : JSON.parse(explanation),
    text: await response.text(),
  }
}

function AnswerShown({ answer: { code, explanation, text } }: { readonly answer: Answer }) {
  return (
    <div class="resent" role="status">
      <p>
        Answered with <strong class={code < 400 ? 'good' : 'bad'}>{code}</strong>.
      </p>
      {explanation !== undefined && <Decisions explanation={explanation} />}
      <details>
        <summary>The answer</summary>
        <pre class="answer">{printed(text)}</pre>
      </details>
    </div>
  )
}
