;; Drives `debugger dap` by dape in a batch Emacs (29 or later).
;; emacs --batch -l dape.el DAPE CONFIGURATION PROGRAM LINE NEXT_LINE
;; DAPE is a checkout of it; empty: the installed package.
(defvar given command-line-args-left)
(setq command-line-args-left nil)
(if (equal (nth 0 given) "")
    (package-initialize)
  (push (nth 0 given) load-path))
(require 'dape)
(load (nth 1 given) nil t)  ;; as `debugger dap --print emacs` prints it
(defvar program (nth 2 given))
(defvar line (string-to-number (nth 3 given)))
(defvar next-line-number (string-to-number (nth 4 given)))
(setq dape-start-hook nil)  ;; no windows: there is no screen

(defun await (what condition)
  "Wait until CONDITION holds; WHAT is said if it never does."
  (let ((end (+ (float-time) 30)))
    (while (not (funcall condition))
      (when (> (float-time) end) (error "%s did not come" what))
      (accept-process-output nil 0.05))))

(defun connection () (dape--live-connection 'stopped t))

(defun shown-line ()
  "Return the line of the chosen frame of a stopped program."
  (and (connection) (plist-get (dape--current-stack-frame (connection)) :line)))

(defun ask (command arguments)
  "Send a request, and return the body of its response."
  (let (found failure)
    (dape-request (connection) command arguments
                  (lambda (body problem) (setq found (or body t) failure problem)))
    (await command (lambda () (or found failure)))
    (when failure (error "%s: %s" command failure))
    found))

(defun value-of (name)
  "Return the value of a local variable."
  (let* ((frame (plist-get (dape--current-stack-frame (connection)) :id))
         (scope (elt (plist-get (ask :scopes (list :frameId frame)) :scopes) 0))
         (reference (plist-get scope :variablesReference))
         (variables (plist-get (ask :variables (list :variablesReference reference)) :variables)))
    (plist-get (seq-find (lambda (one) (equal (plist-get one :name) name)) variables) :value)))

(defun agent (&rest words)
  "Run a command as an agent does, and return what it prints."
  (with-temp-buffer
    (let ((status (apply #'call-process (getenv "DEBUGGER_PYTHON") nil t nil "-m" "debugger" words)))
      (unless (eq status 0) (error "%s: %s" words (buffer-string)))
      (buffer-string))))

(defun done (name) (princ (format "ok %s\n" name)))

(find-file program)
(agent "start" program "--break" (format "%s:%d" program line))
(dape (dape--config-eval 'debugger nil))
(await "the agent's stop" (lambda () (equal (shown-line) line)))
(unless (equal (value-of "square") "1") (error "a value: %s" (value-of "square")))
(done "joins an agent's session where it is stopped, with its values")
(agent "next")
(await "the agent's step" (lambda () (equal (shown-line) next-line-number)))
(done "follows the agent's step")
(dape-next (connection))
(await "the own step" (lambda () (and (shown-line) (/= (shown-line) next-line-number))))
(unless (string-match-p "sum_to" (agent "context")) (error "the agent does not see the step"))
(done "steps for the agent to see")
(goto-char (point-min))
(forward-line (1- line))
(dape-breakpoint-toggle)
(await "the breakpoint is set"
       (lambda () (string-match-p (format ":%d" line) (agent "breakpoint" "list"))))
(dape-continue (connection))
(await "the breakpoint" (lambda () (equal (shown-line) line)))
(done "stops at a breakpoint")
(dape-disconnect-quit (dape--live-connection 'parent))
(await "the leave" (lambda () (not (dape--live-connection 'parent t))))
(agent "context")
(agent "stop" "--all")
(done "leaves it")
(kill-emacs 0)
