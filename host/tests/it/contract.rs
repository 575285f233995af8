//! What every driver guarantees, tried with real workers.
//!
//! Each guarantee is one function, listed in [`contract!`]; each place to run them is one `mod` in it.

mod fixture;
mod lives;
mod output;
mod readiness;
mod restarts;
mod single;
mod stops;

use fixture::Fixture;
use host::drivers::process::GroupUse;

/// Runs each guarantee on each driver.
macro_rules! contract {
    ($($module:ident :: $name:ident,)*) => {
        /// Processes, with control groups where the system has them.
        mod process_with_groups {
            $(#[tokio::test]
            async fn $name() {
                super::$module::$name(super::Fixture::new(super::GroupUse::WherePossible)).await;
            })*
        }

        /// Processes on a system that allows no control groups.
        mod process_without_groups {
            $(#[tokio::test]
            async fn $name() {
                super::$module::$name(super::Fixture::new(super::GroupUse::Never)).await;
            })*
        }
    };
}

contract! {
    single::a_worker_asked_for_twice_runs_once,
    single::a_worker_asked_for_by_many_at_once_runs_once,
    single::callers_killed_at_any_moment_leave_one_of_each_worker,
    single::a_restarted_host_finds_its_workers,
    single::a_worker_whose_supervisor_was_killed_is_lost_and_runs_once_again,
    single::a_worker_whose_record_is_damaged_runs_once_again,
    single::a_worker_whose_supervisor_was_killed_before_its_record_runs_once_again,
    single::a_worker_that_can_not_be_read_hides_no_other,
    single::a_look_at_workers_starts_nothing,
    single::what_is_left_of_a_lost_worker_is_gone_after_its_stop,
    stops::a_worker_told_to_stop_before_its_start_never_starts,
    stops::a_worker_may_finish_after_its_signal,
    stops::a_worker_that_ignores_its_signal_is_killed,
    stops::a_worker_that_left_its_groups_is_killed,
    stops::a_stranger_with_the_output_does_not_hold_up_the_end,
    stops::descendants_in_other_sessions_do_not_survive,
    stops::a_worker_that_starts_many_processes_is_gone_as_a_whole,
    stops::a_child_may_finish_after_its_parent,
    stops::a_worker_whose_folder_was_removed_stops,
    stops::stop_and_forget_of_what_is_not_there_succeed,
    stops::a_running_worker_is_not_forgotten,
    stops::what_can_not_be_deleted_is_in_nobodys_way,
    stops::nothing_is_left_of_a_forgotten_worker,
    lives::a_worker_gets_its_variables_and_not_those_of_the_host,
    lives::ports_are_free_and_differ,
    lives::workers_of_two_targets_get_no_port_twice,
    lives::an_ended_worker_starts_again_after_growing_delays,
    lives::what_an_ended_worker_left_does_not_run_beside_the_next,
    lives::a_command_that_can_not_be_started_says_why_and_waits,
    lives::paths_may_be_long_and_strange,
    lives::limits_hold_where_the_driver_says_so,
    readiness::without_a_check_a_worker_is_ready_when_its_program_runs,
    readiness::a_worker_is_ready_when_it_answers_over_http,
    readiness::a_worker_is_ready_when_it_accepts_connections,
    readiness::a_worker_is_ready_while_a_command_succeeds,
    readiness::a_check_that_hangs_has_failed,
    restarts::a_restarted_worker_ends_as_its_policy_says_and_starts_once,
    restarts::a_worker_that_ignores_a_restart_is_killed_after_the_grace,
    restarts::a_restart_outlives_the_supervisor,
    restarts::a_worker_that_was_told_to_stop_is_not_restarted,
    output::both_streams_are_kept_in_order,
    output::a_follower_sees_all_output_across_files,
    output::a_tail_is_the_last_lines,
    output::a_follower_of_a_stopped_worker_comes_to_an_end,
    output::output_of_an_unknown_worker_is_refused,
}
