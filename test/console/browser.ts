import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, chromium, type Page } from 'playwright-core'
import { findProgram, withoutPrograms } from '../programs.ts'

const program = ['chromium', 'chromium-browser', 'google-chrome'].find((name) => findProgram(name) !== undefined)

/** True if this machine has no Chromium. */
export const hasNoBrowser = program === undefined

/** A suffix for the titles of tests that need Chromium. */
export const withoutBrowser = hasNoBrowser ? withoutPrograms('chromium') : ''

/** This machine's Chromium, headless. Its sandbox needs rights that containers lack. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findProgram(program ?? ''), args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** A page's complaints from now on: policy violations, errors and script failures. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`)
  })
  return complaints
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Finding {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

/** The findings of axe in a page by the rules of WCAG 2.2 AA. */
export async function findingsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  const { violations } = await page.evaluate<{ violations: readonly Finding[] }>(
    `axe.run(document, { runOnly: ${JSON.stringify(tags)}, resultTypes: ['violations'] })`,
  )
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`)
}
