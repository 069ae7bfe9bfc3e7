import type { Figure } from './figure.ts'

export const tableHead = '| line | figure | floor | ratio | target | goal | CPU/op | |\n|---|---|---|---|---|---|---|---|\n'

/** One line of the table, as Markdown. */
export function printRow(line: string, figure: Figure & { readonly label?: string }): string {
  const cells = [
    figure.label === undefined ? line : `${line}: ${figure.label}`,
    `${short(figure.value)} ${figure.unit}`,
    figure.floor === undefined ? '–' : short(figure.floor),
    short(figure.ratio),
    figure.target === undefined ? '–' : short(figure.target),
    figure.goal === undefined ? '–' : short(figure.goal),
    figure.cpuMicros === undefined ? '–' : `${short(figure.cpuMicros)} µs`,
    `${verdict(figure)}${figure.note === undefined ? '' : ` (${figure.note})`}`,
  ]
  return `| ${cells.join(' | ')} |\n`
}

/** True if the ratio reaches the first aim and the final goal. */
export function verdict({ better, ratio, target, goal }: Pick<Figure, 'better' | 'ratio' | 'target' | 'goal'>): string {
  const reaches = (bound: number) => (better === 'more' ? ratio >= bound : ratio <= bound)
  if (target === undefined || goal === undefined) return 'no target'
  if (!reaches(target)) return 'MISSED'
  return reaches(goal) ? 'met, and the goal' : 'met'
}

function short(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0)
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)
}
