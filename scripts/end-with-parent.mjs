/**
 * Loaded into the server by `npm start`. The server runs in a separate process group, so that a signal to the terminal's group reaches it once. This
 * module ends the server like SIGTERM if its parent dies without forwarding a signal.
 */
const parent = process.ppid
const watchMs = 500

const timer = setInterval(() => {
  if (process.ppid === parent) return
  clearInterval(timer) // a second signal would cut the shutdown short
  process.kill(process.pid, 'SIGTERM')
}, watchMs).unref()
