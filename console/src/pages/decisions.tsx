import type { Explanation } from '../replay.ts'

/** The decisions about a request, in order. */
export function Decisions({ explanation }: { readonly explanation: Explanation }) {
  const { authentication, authorization, admission, refusal } = explanation
  const notable = admission.filter(({ patch, reason, rejected }) => patch !== undefined || reason !== undefined || rejected === true)
  const milliseconds = admission.reduce((sum, { durationMs }) => sum + durationMs, 0)
  return (
    <section aria-label="How it was decided">
      <h3>How it was decided</h3>
      <ul class="plain">
        {authentication !== undefined && (
          <li>
            <strong>{authentication.user}</strong> by {authentication.method}
            {authentication.impersonatedBy !== undefined && `, impersonated by ${authentication.impersonatedBy}`}
          </li>
        )}
        {authorization !== undefined && (
          <li>
            <span class={authorization.decision === 'allow' ? 'good' : 'bad'}>{authorization.decision}</span>{' '}
            {authorization.reason || 'without a rule'}
          </li>
        )}
        {admission.length > 0 && (
          <li>
            {admission.length} steps of admission in {milliseconds.toFixed(1)} ms
            {notable.length === 0 && ', none of which changed or refused anything'}
          </li>
        )}
        {notable.map(({ phase, plugin, webhook, durationMs, patch, reason, rejected }, index) => (
          <li key={index}>
            <span class={rejected === true ? 'bad' : ''}>{rejected === true ? 'refused by' : `${phase}:`}</span> {webhook ?? plugin}{' '}
            <span class="dim">{durationMs} ms</span> {reason}
            {patch !== undefined && (
              <details>
                <summary>{patch.length === 1 ? 'one change' : `${patch.length} changes`}</summary>
                <pre class="answer">{patch.map((operation) => JSON.stringify(operation)).join('\n')}</pre>
              </details>
            )}
          </li>
        ))}
        {refusal !== undefined && (
          <li>
            <span class="bad">
              {refusal.code} {refusal.reason}
            </span>{' '}
            {refusal.message}
          </li>
        )}
      </ul>
    </section>
  )
}
