import { messageBytesMax } from './budgets.ts'
import type { CompiledRule } from './compile.ts'
import type { EvaluationBounds } from './language.ts'
import { messageOf } from './rule-errors.ts'

/** The message of a violated rule, or the fact that the message exhausted the budget. */
export type RuleMessage =
  | { readonly kind: 'text'; readonly text: string; readonly cost: number }
  | { readonly kind: 'stopped'; readonly problem: string }

/** Evaluates the message of a rule. If its expression gives no usable text, the rule's own message applies. */
export function evaluateMessage(
  { rule, message }: CompiledRule,
  variables: Readonly<Record<string, unknown>>,
  { budget, bounds }: { readonly budget: number; readonly bounds: EvaluationBounds },
): RuleMessage {
  if (message === undefined) return { kind: 'text', text: messageOf(rule), cost: 0 }
  const result = message.evaluate(variables, bounds)
  if (result.cost > budget) {
    const problem = 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run'
    return { kind: 'stopped', problem }
  }
  if (result.kind === 'error' && result.isOverLimit) {
    const text = JSON.stringify(rule.messageExpression)
    return {
      kind: 'stopped',
      problem: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${text}`,
    }
  }
  const text = result.kind === 'value' && typeof result.value === 'string' ? result.value.trim() : ''
  return { kind: 'text', text: isUsable(text) ? text : messageOf(rule), cost: result.cost }
}

function isUsable(text: string): boolean {
  return text !== '' && !text.includes('\n') && new TextEncoder().encode(text).length <= messageBytesMax
}
