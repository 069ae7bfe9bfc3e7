import { explainSchedule } from '@orch/client'
import type { ExplainedNode, SchedulingExplanation } from '@orch/core/scheduling'
import { type Command, command } from '../command.ts'
import { printColumns } from '../output/columns.ts'
import { printYaml } from '../output/yaml.ts'
import { CtlError } from '../words.ts'

/** `orchctl explain-schedule`. */
export const explainScheduleCommand: Command = command({
  usage: 'explain-schedule pod',
  doc: 'print which nodes fit a Pod, the reasons of the others, and the scores',
  flags: { output: { short: 'o', word: 'json|yaml', doc: 'Print the table as JSON or YAML. (default text)' } },
  async run({ terminal, session, flags, rest }) {
    const [name, ...others] = rest
    if (name === undefined || others.length > 0) throw new CtlError('one Pod must be named: explain-schedule pod')
    const names = await session.names()
    const explanation = await explainSchedule(session.client, { names, namespace: session.namespace, name })
    terminal.out(await printed(explanation, flags.output))
  },
})

async function printed(explanation: SchedulingExplanation, output: string | undefined): Promise<string> {
  if (output === 'json') return `${JSON.stringify(explanation, null, 4)}\n`
  if (output === 'yaml') return printYaml(explanation)
  const { nodes } = explanation
  const table = printColumns([['NODE', 'TOTAL', 'SCORES OR REASONS'], ...nodes.map(rowOf)])
  return `${nodes.length === 0 ? '' : `${table}\n`}${decisionOf(explanation)}\n`
}

function rowOf({ name, total, scores = {}, refusals }: ExplainedNode): string[] {
  const refused = refusals.map(({ plugin, reasons }) => `${plugin}: ${reasons.join(', ')}`)
  const scored = Object.entries(scores).map(([plugin, score]) => `${plugin}=${score}`)
  return [name, total === undefined ? '<none>' : String(total), (refused.length > 0 ? refused : scored).join('; ')]
}

function decisionOf({ pod, boundTo, best, message, preemption }: SchedulingExplanation): string {
  const where = boundTo === undefined ? '' : ` (it is on ${boundTo} now)`
  if (message === undefined) return `${pod} fits ${best.length === 1 ? 'best on' : 'equally well on'} ${best.join(', ')}${where}`
  const leaving = preemption === undefined ? '' : `\n${preemption.victims.join(', ')} would have to leave ${preemption.node}`
  return `${pod} fits nowhere${where}: ${message}${leaving}`
}
