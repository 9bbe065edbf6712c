// Hands the events of opencode to Crosier and does what it says.
// A tool does not run when Crosier cannot be reached.

const COMMAND = ["crosier", "hook", "opencode"]
const TIMEOUT_MS = 60_000

import { spawn } from "node:child_process"

type Said = { deny?: string; args?: Record<string, unknown>; output?: string; context?: string; tell?: string }

export const Crosier = async ({ client, directory }: any) => {
  const ask = (hook: string, input: unknown, output?: unknown): Promise<Said> =>
    new Promise((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`crosier cannot decide: ${why}`))
      const [program, ...words] = COMMAND
      const child = spawn(program, [...words, hook], { cwd: directory, stdio: ["pipe", "pipe", "inherit"] })
      const timer = setTimeout(() => {
        child.kill("SIGKILL")
        fail(`it did not answer within ${TIMEOUT_MS} ms`)
      }, TIMEOUT_MS)
      let said = ""
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (text: string) => (said += text))
      child.stdin.on("error", () => {})
      child.on("error", (error: Error) => {
        clearTimeout(timer)
        fail(error.message)
      })
      child.on("close", (status: number | null) => {
        clearTimeout(timer)
        if (status !== 0) return fail(`it ended with ${status}`)
        try {
          const answer = JSON.parse(said)
          if (answer === null || typeof answer !== "object" || Array.isArray(answer)) return fail("it gave no object")
          resolve(answer)
        } catch {
          fail("its answer is no JSON")
        }
      })
      child.stdin.end(JSON.stringify({ hook, input, output, directory }))
    })

  const tell = async (text?: string) => {
    if (!text) return
    try {
      await client.app.log({ body: { service: "crosier", level: "warn", message: text } })
      await client.tui.showToast({ body: { message: text, variant: "warning" } })
    } catch {
      // There is nobody to tell.
    }
  }

  return {
    "tool.execute.before": async (input: any, output: any) => {
      const said = await ask("tool.execute.before", input, output)
      await tell(said.tell)
      if (said.deny !== undefined) throw new Error(said.deny)
      if (said.args !== undefined) {
        // In place: opencode ignores another object.
        for (const key of Object.keys(output.args)) delete output.args[key]
        Object.assign(output.args, said.args)
      }
    },
    "tool.execute.after": async (input: any, output: any) => {
      const said = await ask("tool.execute.after", input, output)
      await tell(said.tell)
      // Tools of MCP servers give a list of blocks, the others a text.
      const isList = Array.isArray(output.content)
      const block = (text: string) => ({ type: "text", text })
      if (said.output !== undefined && isList) output.content.splice(0, output.content.length, block(said.output))
      else if (said.output !== undefined) output.output = said.output
      if (said.context !== undefined && isList) output.content.push(block(said.context))
      else if (said.context !== undefined) output.output = `${output.output ?? ""}\n\n${said.context}`
    },
    "chat.message": async (input: any, output: any) => {
      const said = await ask("chat.message", input, output)
      await tell(said.tell)
      if (said.deny !== undefined) throw new Error(said.deny)
      if (said.context !== undefined) {
        const last = output.parts[output.parts.length - 1] ?? {}
        output.parts.push({ ...last, id: `prt_crosier${Date.now()}`, type: "text", text: said.context, synthetic: true })
      }
    },
    event: async ({ event }: any) => {
      if (!["session.created", "session.idle", "session.deleted"].includes(event.type)) return
      try {
        await tell((await ask(event.type, { event })).tell)
      } catch (error) {
        await tell(String(error))
      }
    },
  }
}
