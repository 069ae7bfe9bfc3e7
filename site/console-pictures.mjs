/**
 * `npm run pictures`: takes the pictures of docs/how-to/console.md from a server of its own on which two controllers quarrel. It needs a
 * Chromium. They are taken anew when a page changes.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openBrowser } from '../test/console/browser.ts'
import { startQuarrel } from '../test/console/quarrel.ts'

const folder = join(import.meta.dirname, '../docs/console')

/** The pictures, in the order of the walk: a place of the console, what a person does there, and the text that shows that it is done. */
export const pictures = [
  { name: 'requests', place: 'requests', text: 'Hot loops' },
  {
    name: 'request',
    place: 'requests?filter=shop-operator+patch',
    height: 760,
    click: { role: 'button', name: /^\d\d:\d\d/ },
    text: 'RBAC: allowed by',
  },
  {
    name: 'object',
    place: 'object?kind=configmaps&ns=default&name=settings',
    height: 960,
    click: { role: 'button', name: /^\d+$/ },
    text: '+   replicas',
  },
  { name: 'timeline', place: 'timeline?lanes=clients&kind=configmaps&ns=default', text: 'autoscaler' },
]

/** Seconds for which the controllers quarrel before the first picture: hot loops are those of ten seconds. */
const quarrelSeconds = 12
const width = 1200

async function takePictures() {
  const { start } = await import('orch')
  const server = await start({ console: true, control: true, profile: 'kubernetes', seed: 1 })
  const browser = await openBrowser()
  const quarrel = await startQuarrel(server)
  try {
    await new Promise((resolve) => setTimeout(resolve, quarrelSeconds * 1_000))
    const page = await (
      await browser.newContext({ viewport: { width, height: 640 }, colorScheme: 'light', reducedMotion: 'reduce' })
    ).newPage()
    await page.goto(await server.console())
    await page.getByRole('link', { name: 'Requests' }).waitFor()
    const session = await page.context().newCDPSession(page)
    mkdirSync(folder, { recursive: true })
    for (const { name, place, height = 640, click, text } of pictures) {
      await page.setViewportSize({ width, height })
      await page.evaluate(`location.hash = '#/${place}'`)
      if (click !== undefined) await page.getByRole(click.role, { name: click.name }).first().click()
      await page.getByText(text).first().waitFor()
      const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 60 })
      writeFileSync(join(folder, `${name}.webp`), Buffer.from(data, 'base64'))
    }
  } finally {
    await quarrel.stop()
    await browser.close()
    await server.stop()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await takePictures()
  process.stdout.write(`${pictures.map(({ name }) => `docs/console/${name}.webp`).join(', ')} are written.\n`)
}
