import { endOnEarlySignals } from '@orch/platform/early-signals'
import { loadFast } from '../process/before-modules.ts'

endOnEarlySignals()
loadFast(import.meta.url)
process.noDeprecation = true
const { SettingsError, stackOf } = await import('@orch/platform')
const { kubeApiServer } = await import('./kube-apiserver.ts')
const { isExpected } = await import('../process/terminal.ts')

// The program ends when the log's reader (the test that started it) ends: kube-apiserver gets a SIGPIPE there.
const alone = new AbortController()
alone.signal.addEventListener('abort', () => process.kill(process.pid, 'SIGTERM'))
process.stderr.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') alone.abort()
})
process.stdout.on('error', () => {})

try {
  await kubeApiServer(
    {
      arguments: process.argv.slice(2),
      env: process.env,
      workingFolder: process.cwd(),
      out: (text) => void process.stdout.write(text),
      error: (text) => void process.stderr.write(text),
    },
    process.argv.slice(2),
  )
} catch (error) {
  const text = isExpected(error) ? error.message : stackOf(error)
  process.stderr.write(`Error: ${text}\n`, () => process.exit(error instanceof SettingsError ? 2 : 1))
}
